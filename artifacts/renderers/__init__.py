"""What people see of a renderable envelope: the native table, or the producer's text. Pure."""

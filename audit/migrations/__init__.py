"""Schema of the audit app."""

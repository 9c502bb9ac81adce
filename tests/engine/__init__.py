"""How a turn decides."""

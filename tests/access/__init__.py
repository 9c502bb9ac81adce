"""Who may reach what: a matrix generated from the routes, people against objects."""

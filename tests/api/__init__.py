"""What the REST door promises, asked through the door."""

"""What the ground promises: strict JSON, closed vocabularies, rows nobody can change."""

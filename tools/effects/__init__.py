"""Claims and effects: who may work a run right now, proved by a fence, on the database clock."""

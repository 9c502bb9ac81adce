"""Tests of the composition root: embedded services, supervisor, jobs, doctor."""

"""Whole stories in a real browser, against the running stack."""

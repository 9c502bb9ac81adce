"""Packages: code and skills that members write and administrators review."""

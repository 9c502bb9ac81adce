"""Composition root: settings, urls, processes. Imports everyone; nobody imports it."""

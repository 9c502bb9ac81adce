"""Django app configuration."""

from django.apps import AppConfig


class BoundaryConfig(AppConfig):
    name = "tools.boundary"
    label = "boundary"

"""Django app configuration."""

from django.apps import AppConfig

from agents.api import identifiers


class ApiConfig(AppConfig):
    name = "agents.api"
    label = "api"

    def ready(self) -> None:
        # Before any URL configuration is read: the project's names these converters too.
        identifiers.register()

"""Django app configuration."""

from django.apps import AppConfig


class DefinitionsConfig(AppConfig):
    name = "agents.definitions"
    label = "definitions"
    verbose_name = "Agents"

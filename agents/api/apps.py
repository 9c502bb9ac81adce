"""Django app configuration."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "agents.api"
    label = "api"

"""Django app configuration."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "agents.web"
    label = "web"

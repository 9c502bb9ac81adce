"""Django app configuration."""

from django.apps import AppConfig


class StreamingConfig(AppConfig):
    name = "agents.streaming"
    label = "streaming"

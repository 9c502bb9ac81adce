"""Django app configuration."""

from django.apps import AppConfig


class TurnsConfig(AppConfig):
    name = "agents.turns"
    label = "turns"

"""Django app configuration."""

from django.apps import AppConfig


class JournalConfig(AppConfig):
    name = "agents.journal"
    label = "journal"

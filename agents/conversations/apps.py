"""Django app configuration."""

from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    name = "agents.conversations"
    label = "conversations"

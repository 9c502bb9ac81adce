"""Django app configuration."""

from django.apps import AppConfig


class EffectsConfig(AppConfig):
    name = "tools.effects"
    label = "effects"

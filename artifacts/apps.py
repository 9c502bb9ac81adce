"""Django app configuration."""

from django.apps import AppConfig


class ArtifactsConfig(AppConfig):
    name = "artifacts"
    label = "artifacts"

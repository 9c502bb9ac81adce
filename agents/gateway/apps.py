"""Django app configuration."""

from django.apps import AppConfig


class GatewayConfig(AppConfig):
    name = "agents.gateway"
    label = "gateway"
    verbose_name = "Models"

"""Django app configuration."""

from importlib import import_module

from django.apps import AppConfig


class GatewayConfig(AppConfig):
    name = "agents.gateway"
    label = "gateway"
    verbose_name = "Models"

    def ready(self) -> None:
        """Have messages checked for their model and budget; only now are all models loaded."""
        gates = import_module("agents.conversations.gates")
        gates.add(self.label, import_module("agents.gateway.door").check)

"""All limits that people meet, also those of modules this process has no other use for."""

from importlib import import_module
from typing import Final

from audit.limits import Declaration, declared
from tools.boundary import registry

# Each leads to declarations that the web process does not load by itself.
FURTHER: Final = ("agents.turns.limits", "agents.turns.host", "agents.streaming.consumers")


def shown() -> list[Declaration]:
    """Every declared limit, sorted by name."""
    for module in FURTHER:
        import_module(module)
    for name in registry.ENTRIES:
        registry.resolve(name)
    return declared()

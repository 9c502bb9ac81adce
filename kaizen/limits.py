"""All limits that people meet, also those of modules the web process has no other use for.

Imported only when somebody looks at the page, because it loads most of the product.
"""

from typing import Final

from agents.streaming import consumers
from agents.turns import host
from agents.turns import limits as turn_limits
from audit.limits import Declaration, declared
from tools.boundary import registry

# Loading these, and the tools below, declares everything there is.
DECLARING: Final = (consumers, host, turn_limits)


def shown() -> list[Declaration]:
    """Every declared limit, sorted by name."""
    for name in registry.ENTRIES:
        registry.resolve(name)
    return declared()

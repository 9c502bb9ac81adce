"""When a turn only searches for tools. Pure."""

from collections.abc import Sequence
from typing import Final

from agents.engine import bounds
from agents.engine.events import ToolSettled

EXHAUSTED: Final = "discovery_exhausted"


def count(searches: int, results: Sequence[ToolSettled]) -> tuple[int, str]:
    """Executed searches since another tool succeeded, and why they end the turn."""
    closes = ""
    for result in results:
        if result.denial:
            continue
        if result.discovery:
            searches += 1
            closes = EXHAUSTED if searches >= bounds.FRUITLESS_SEARCHES else closes
        elif result.outcome == "success":
            searches = 0
    return searches, closes

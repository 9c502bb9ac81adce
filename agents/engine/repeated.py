"""How often one tool failed on the same input. Pure."""

from collections.abc import Sequence
from typing import Final

from agents.engine import bounds
from agents.engine.events import ToolSettled

EXHAUSTED: Final = "repeated_tool_failure_exhausted"
FAILURES: Final = frozenset({"error", "timeout"})

Counts = dict[tuple[str, str], int]


def count(counts: Counts, results: Sequence[ToolSettled]) -> tuple[Counts, str]:
    """The counts after a batch, and why it ends the turn. A success on an input clears its count;
    a call that was refused never ran and counts for nothing.
    """
    following = dict(counts)
    closes = ""
    for result in results:
        key = (result.tool, result.arguments_digest)
        if result.outcome == "success":
            following.pop(key, None)
        elif result.outcome in FAILURES and not result.denial:
            following[key] = following.get(key, 0) + 1
            if following[key] >= bounds.IDENTICAL_FAILURES:
                closes = EXHAUSTED
    return following, closes

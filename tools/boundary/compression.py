"""Long results made shorter by their structure: no model is asked, the same text gives the same.

Runs on what a model may read, after authority, policy and redaction have had their say. When it
fails or takes too long, the result stays as it was.
"""

import asyncio
import json
import logging
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from audit import canonical
from audit.limits import limit
from tools.boundary.contract import ToolDescriptor, ToolOutcome

COMPRESSED_VIEW = limit(
    "tool.compressed_view",
    4_096,
    "bytes",
    "Where a member has compression on: what a model reads of one long tool result, as JSON.",
)
TIMEOUT_S: Final = 1.0
KEPT_ENDS: Final = (0.7, 0.3)  # share of a shortened value that comes from its head, its tail
LEAST: Final = 4  # lines, items or words every value keeps
TO_TRY: Final = 4_096  # no view of this size has more lines, items or words to keep

logger = logging.getLogger(__name__)


async def compressed(
    outcome: ToolOutcome,
    descriptor: ToolDescriptor,
    *,
    reduce: Callable[[str], str] | None = None,
    timeout_s: float = TIMEOUT_S,
) -> ToolOutcome:
    """The outcome with a shorter view for the model, or as it was.

    Left alone are failures, whose details a repair needs, and results that must come whole.
    """
    if outcome.outcome != "success" or descriptor.whole_result:
        return outcome
    if len(outcome.model_view.encode()) <= COMPRESSED_VIEW:
        return outcome
    try:
        work = asyncio.to_thread(reduce or reduced, outcome.model_view)
        view = await asyncio.wait_for(work, timeout_s)
    except Exception:  # shortening is a convenience; the authorised result is at hand
        logger.warning("result of %s could not be compressed", descriptor.name, exc_info=True)
        return outcome
    return replace(outcome, model_view=view)


def reduced(text: str) -> str:
    """A JSON object with head and tail of its long texts and lists, at most 4 KiB where possible.

    Every key stays, and each place where something is missing says how much. Raises `ValueError`
    for a text that is no JSON object.
    """
    view = json.loads(text)
    if not isinstance(view, dict):
        raise ValueError("a view is an object")

    def kept(most: int) -> str:
        return canonical.dump({**_short(view, most), "compressed": True})

    steps = range(LEAST, TO_TRY)
    found = bisect_left(steps, True, key=lambda most: len(kept(most).encode()) > COMPRESSED_VIEW)
    return kept(steps[max(found - 1, 0)])


def _short(value: Any, most: int) -> Any:
    if isinstance(value, str):
        return _short_text(value, most)
    if isinstance(value, dict):
        return {key: _short(inner, most) for key, inner in value.items()}
    if isinstance(value, list):
        head, tail, missing = _ends(value, most)
        items = [_short(inner, most) for inner in (*head, *tail)]
        if missing:
            items.insert(len(head), f"[{missing:,} items left out]")
        return items
    return value


def _short_text(text: str, most: int) -> str:
    """Whole lines where there are several, else whole words, with the gap marked."""
    lines = text.split("\n")
    joint, unit, parts = "\n", "lines", lines
    if len(lines) == 1:
        joint, unit, parts = " ", "words", text.split(" ")
    head, tail, missing = _ends(parts, most)
    if not missing:
        return text
    return joint.join((*head, f"[… {missing:,} {unit} left out …]", *tail))


def _ends(parts: list[Any], most: int) -> tuple[list[Any], list[Any], int]:
    """The first and the last parts, together at most `most`, and how many are missing."""
    if len(parts) <= most:
        return parts, [], 0
    tail = max(1, round(most * KEPT_ENDS[1]))
    head = most - tail
    return parts[:head], parts[-tail:], len(parts) - most

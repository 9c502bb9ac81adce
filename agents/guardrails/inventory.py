"""The ids a member supplied in a run: evidence of theirs, never sources of ours.

Bounded, and gone with the run. An id leaves it when a tool retrieves that source in the same run.
"""

import re
from collections.abc import Iterable
from typing import Final

from audit.limits import limit

SUPPLIED_IDS = limit(
    "turn.supplied_ids",
    256,
    "count",
    "Ids of sources in your own messages that one turn keeps apart from sources it retrieved.",
)
UUID_SHAPE: Final = "[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
# How a retrieved source is cited in an answer.
CITATION_SHAPE: Final = r"\[(?:source|sources|cite|citation)\s*:\s*(?P<cited>[^\]\n]{1,120})\]"
_SUPPLIED: Final = re.compile(rf"{CITATION_SHAPE}|(?<![\w-])(?P<uuid>{UUID_SHAPE})(?![\w-])", re.I)


class Inventory:
    """Ids in the order they came, compared without regard to case."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._ids: dict[str, None] = {}
        for text in texts:
            self.read(text)

    def read(self, text: str) -> None:
        """Add every id of a member's text; past the bound none is added."""
        for match in _SUPPLIED.finditer(text):
            for label in (match["cited"] or match["uuid"]).split(","):
                if len(self._ids) < SUPPLIED_IDS and label.strip():
                    self._ids[label.strip().casefold()] = None

    def lift(self, ids: Iterable[str]) -> None:
        """Take out sources that a tool of this run retrieved."""
        for label in ids:
            self._ids.pop(label.casefold(), None)

    def __contains__(self, label: str) -> bool:
        return label.strip().casefold() in self._ids

    def __len__(self) -> int:
        return len(self._ids)

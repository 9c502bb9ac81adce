"""Long reasoning is journaled while it goes on, so that a lost worker does not lose all of it."""

from typing import Final

from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.turns.checkpointing import Checkpoint, Checkpoints
from agents.turns.live import LiveTurn

CHECKPOINT: Final = 4_000  # characters of a segment that is closed at the next end of a line
LONGEST: Final = 8_000  # characters after which it is closed anywhere
WAITING: Final = 4  # checkpoints; while so many wait the open segment grows on


class Reasoning:
    """The reasoning of one turn on its way to people and into the journal."""

    def __init__(self, checkpoints: Checkpoints, live: LiveTurn) -> None:
        self._checkpoints = checkpoints
        self._live = live
        self._size = 0

    def add(self, step: int, text: str) -> None:
        """Show more reasoning of a step; never waits."""
        self._live.add("thinking", text)
        self._size += len(text)
        is_due = self._size >= LONGEST or (self._size >= CHECKPOINT and text.endswith("\n"))
        if is_due and len(self._checkpoints) < WAITING:
            self._checkpoint(step)

    def closed(self) -> None:
        """The open segment was taken with its step."""
        self._size = 0

    def _checkpoint(self, step: int) -> None:
        text = self._live.text("thinking")
        data = {"text": text, "segment": self._live.close("thinking")}
        draft = Draft(Kind.THINKING, data, {"step": step, "excluded": False})
        self._size = 0

        async def make() -> list[Draft]:
            return [draft]

        self._checkpoints.put(Checkpoint(make, owed=(draft,)))

"""Long reasoning is journaled while it goes on, so that a lost worker does not lose all of it.

Checkpoints are written in order by one task at a time, a few of them may wait, and live text waits
for none. Whoever journals anything else of the turn drains them first.
"""

import asyncio
from collections import deque
from typing import Final

from django.db import DatabaseError

from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.journal.offloading import to_its_end
from agents.turns import answers
from agents.turns.admission import Admitted
from agents.turns.answers import Pending
from agents.turns.live import LiveTurn

CHECKPOINT: Final = 4_000  # characters of a segment that is closed at the next end of a line
LONGEST: Final = 8_000  # characters after which it is closed anywhere
WAITING: Final = 4  # checkpoints; while so many wait the open segment grows on


class Reasoning:
    """The reasoning of one turn on its way to people and into the journal."""

    def __init__(self, admitted: Admitted, live: LiveTurn) -> None:
        self._admitted = admitted
        self._live = live
        self._size = 0
        self._waiting: deque[Draft] = deque()
        self._task: asyncio.Task[None] | None = None

    def add(self, step: int, text: str) -> None:
        """Show more reasoning of a step; never waits."""
        self._live.add("thinking", text)
        self._size += len(text)
        is_due = self._size >= LONGEST or (self._size >= CHECKPOINT and text.endswith("\n"))
        if is_due and len(self._waiting) < WAITING:
            self._checkpoint(step)

    def closed(self) -> None:
        """The open segment was taken with its step."""
        self._size = 0

    async def drained(self) -> list[Draft]:
        """Wait until all checkpoints are journaled. Those that the database did not take are given
        back, to be journaled before what follows. Raises `LeaseLost`.
        """
        if self._task is None:
            return []
        await asyncio.wait({self._task})
        fault = self._task.exception()
        self._task = None
        if fault is not None and not isinstance(fault, DatabaseError):
            raise fault
        left = list(self._waiting)
        self._waiting.clear()
        return left

    def _checkpoint(self, step: int) -> None:
        text = self._live.text("thinking")
        data = {"text": text, "segment": self._live.close("thinking")}
        self._waiting.append(Draft(Kind.THINKING, data, {"step": step, "excluded": False}))
        self._size = 0
        if self._task is None or (self._task.done() and self._task.exception() is None):
            self._task = asyncio.create_task(self._write())
            self._task.add_done_callback(_looked_at)

    async def _write(self) -> None:
        while self._waiting:
            drafts = [self._waiting[0]]
            await to_its_end(answers.commit, self._admitted, Pending(), drafts)
            self._waiting.popleft()


def _looked_at(task: asyncio.Task[None]) -> None:
    """A turn that lost its run drains nothing: its fault is not worth a warning."""
    if not task.cancelled():
        task.exception()

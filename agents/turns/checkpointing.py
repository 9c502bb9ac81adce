"""What a turn writes down while a model is still answering, in order and by one task.

Nothing live waits for it. Whoever journals anything else of the turn drains it first.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from django.db import DatabaseError

from agents.journal.append import Draft
from agents.journal.offloading import to_its_end
from agents.turns import answers
from agents.turns.admission import Admitted
from agents.turns.answers import Pending


def _nothing() -> None: ...


@dataclass(frozen=True)
class Checkpoint:
    """Something to be journaled as soon as what came before it is.

    `make` gives its drafts when its turn has come, none if there is nothing to say any more;
    `written` is called once they are committed. `owed` must be journaled all the same, with what
    follows, if the database did not take the drafts.
    """

    make: Callable[[], Awaitable[list[Draft]]]
    written: Callable[[], None] = _nothing
    owed: tuple[Draft, ...] = ()


class Checkpoints:
    """The checkpoints of one turn that wait; used by one task."""

    def __init__(self, admitted: Admitted) -> None:
        self._admitted = admitted
        self._waiting: deque[Checkpoint] = deque()
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, checkpoint: Checkpoint) -> None:
        """Write this after what waits already; never waits."""
        self._waiting.append(checkpoint)
        if self._task is None or (self._task.done() and self._task.exception() is None):
            self._task = asyncio.create_task(self._write())
            self._task.add_done_callback(_looked_at)

    async def drained(self) -> list[Draft]:
        """Wait until all of them are journaled. What is owed of those that the database did not
        take is given back, to be journaled before what follows. Raises `LeaseLost`.
        """
        if self._task is None:
            return []
        await asyncio.wait({self._task})
        fault = self._task.exception()
        self._task = None
        if fault is not None and not isinstance(fault, DatabaseError):
            raise fault
        left = [draft for checkpoint in self._waiting for draft in checkpoint.owed]
        self._waiting.clear()
        return left

    async def _write(self) -> None:
        while self._waiting:
            first = self._waiting[0]
            drafts = await first.make()
            if drafts:
                await to_its_end(answers.commit, self._admitted, Pending(), drafts)
            self._waiting.popleft()
            first.written()


def _looked_at(task: asyncio.Task[None]) -> None:
    """A turn that lost its run drains nothing: its fault is not worth a warning."""
    if not task.cancelled():
        task.exception()

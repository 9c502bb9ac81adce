"""One reader of one conversation: a bounded queue between the hub and a socket or event stream."""

import asyncio
from collections.abc import Sequence
from enum import IntEnum
from typing import Final
from uuid import UUID

from agents.members.credentials import Credential
from agents.streaming.wire import Delta, Frame
from audit.limits import limit

QUEUE_BYTES: Final = limit(
    "streaming.queue", 1_048_576, "bytes", "Frames that may wait for a reader that is slow."
)
QUEUE_FRAMES: Final = 4_096


class CloseCode(IntEnum):
    """Why a socket was closed by the server."""

    DRAINING = 4000
    NOT_SIGNED_IN = 4401
    NOT_VISIBLE = 4404
    TOO_SLOW = 4408
    TOO_FAST = 4429
    FAULT = 1011  # the standard code for a fault of the server
    UNAVAILABLE = 1013  # the standard code for "try again later"


class Closed(Exception):
    """The reader was closed by the server; `code` says why."""

    def __init__(self, code: CloseCode) -> None:
        super().__init__(code.name)
        self.code = code


class Overflowed(Exception):
    """The reader fell behind and its queue was given up; the journal has everything durable."""


class Listener:
    """A reader's queue. Live readers get pieces too, others journal frames only.

    `push` never waits and `take` hands over everything that waits. `task`, if set, is cancelled
    when the reader is closed, so that one that waits for a slow network ends as well.
    """

    __slots__ = (
        "_bytes",
        "_overflowed",
        "_queue",
        "_waiter",
        "code",
        "conversation_id",
        "credential",
        "live",
        "quiet",
        "task",
    )

    def __init__(self, conversation_id: UUID, credential: Credential, *, live: bool) -> None:
        self.conversation_id = conversation_id
        self.credential = credential
        self.live = live
        self.code: CloseCode | None = None
        self.task: asyncio.Task[None] | None = None
        self.quiet = True
        self._queue: list[Frame] = []
        self._bytes = 0
        self._overflowed = False
        self._waiter: asyncio.Future[None] | None = None

    def push(self, frames: Sequence[Frame]) -> None:
        """Queue frames. A live reader over its bounds is closed, another one told to read again."""
        if self.code is not None or self._overflowed:
            return
        self.quiet = False
        for frame in frames:
            self._bytes += frame.size
        self._queue += frames
        if self._bytes > QUEUE_BYTES or len(self._queue) > QUEUE_FRAMES:
            self.clear()
            if self.live:
                self.close(CloseCode.TOO_SLOW)
                return
            self._overflowed = True
        self._wake()

    def push_first(self, texts: Sequence[Delta]) -> None:
        """Queue the texts so far of somebody who joins; their size is not held against them."""
        self._queue += texts
        if self._queue:
            self._wake()

    async def take(self) -> list[Frame]:
        """Everything that waits, at least one frame; raises `Closed` or `Overflowed`."""
        while True:
            if self.code is not None:
                raise Closed(self.code)
            if self._overflowed:
                self._overflowed = False
                raise Overflowed
            if self._queue:
                batch, self._queue, self._bytes = self._queue, [], 0
                return batch
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None

    def close(self, code: CloseCode) -> None:
        """End the reader; the first reason stays."""
        if self.code is not None:
            return
        self.code = code
        self.clear()
        self._wake()
        if self.task is not None:
            self.task.cancel()

    def clear(self) -> None:
        """Drop what waits."""
        self._queue, self._bytes = [], 0

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

"""Live deltas of running turns: the first of a segment at once, later ones in 10 ms batches.

A delta costs an append to a list; frames are built once per batch. Nothing waits for the
database, and a lost frame is healed by its offset.
"""

import asyncio
import contextlib
import logging
from collections import defaultdict
from typing import Any, Final, Literal
from uuid import UUID

import orjson
import redis.asyncio
from django.conf import settings
from redis.exceptions import RedisError

from agents.journal.publication import live_channel

BATCH_SECONDS: Final = 0.010  # one message per delta is late at 100 streams, measured
SOCKET_TIMEOUT_S: Final = 2.0
PAUSE_AFTER_FAILURE_S: Final = 1.0

log = logging.getLogger(__name__)

DeltaKind = Literal["text", "thinking", "artifact"]


class Segment:
    """The open segment of one kind: all its text, and what has not been sent yet.

    Offsets and lengths count characters (code points).
    """

    def __init__(self, kind: DeltaKind, number: int) -> None:
        self.kind = kind
        self.number = number
        self.pieces: list[str] = []
        self.waiting: list[str] = []
        self.sent = 0

    def frame(self, turn_id: UUID, offset: int, text: str) -> dict[str, Any]:
        """The public delta frame for a piece of this segment."""
        return {
            "event": "delta",
            "turn_id": str(turn_id),
            "kind": self.kind,
            "segment": self.number,
            "segment_start": offset == 0 and self.number > 0,
            "offset": offset,
            "text": text,
        }


class LiveTurn:
    """The live side of one turn. `number` of the next segment survives recovery."""

    def __init__(self, publisher: "LivePublisher", conversation_id: UUID, turn_id: UUID) -> None:
        self._publisher = publisher
        self.conversation_id = conversation_id
        self.turn_id = turn_id
        self.numbers: dict[DeltaKind, int] = {"text": 0, "thinking": 0, "artifact": 0}
        self._open: dict[DeltaKind, Segment] = {}
        self._builds: dict[int, Segment] = {}  # several artifacts may be written side by side
        self._ended: list[Segment] = []  # closed before their last text was sent

    def add(self, kind: DeltaKind, text: str) -> None:
        """Send more text of a kind."""
        if not text:
            return
        segment = self._open.get(kind)
        first = segment is None
        if segment is None:
            segment = self._open[kind] = Segment(kind, self.numbers[kind])
        segment.pieces.append(text)
        segment.waiting.append(text)
        self._publisher.mark(self, at_once=first)

    def text(self, kind: DeltaKind) -> str:
        """All text of the open segment."""
        segment = self._open.get(kind)
        return "".join(segment.pieces) if segment else ""

    def close(self, kind: DeltaKind) -> int:
        """End the open segment and return its number; the next text opens another."""
        number = self.numbers[kind]
        segment = self._open.pop(kind, None)
        if segment is not None:
            self.numbers[kind] = number + 1
            if segment.waiting:
                self._ended.append(segment)
        return number

    def next_build(self) -> int:
        """The number of the next artifact that is written."""
        number = self.numbers["artifact"]
        self.numbers["artifact"] = number + 1
        return number

    def build(self, number: int, text: str) -> None:
        """Send more of an artifact that is being written."""
        if not text:
            return
        segment = self._builds.get(number)
        first = segment is None
        if segment is None:
            segment = self._builds[number] = Segment("artifact", number)
        segment.pieces.append(text)
        segment.waiting.append(text)
        self._publisher.mark(self, at_once=first)

    def built(self) -> None:
        """No artifact is written on any more."""
        self._ended += [segment for segment in self._builds.values() if segment.waiting]
        self._builds.clear()

    def take(self) -> list[bytes]:
        """Lines for everything not sent yet."""
        lines = []
        ended, self._ended = self._ended, []
        for segment in (*ended, *self._open.values(), *self._builds.values()):
            if segment.waiting:
                text = "".join(segment.waiting)
                segment.waiting.clear()
                lines.append(self._line(segment.frame(self.turn_id, segment.sent, text)))
                segment.sent += len(text)
        return lines

    def whole(self) -> list[bytes]:
        """Lines that carry each open segment from its beginning, for somebody who joins."""
        return [
            self._line({**segment.frame(self.turn_id, 0, "".join(segment.pieces)), "resume": True})
            for segment in (*self._open.values(), *self._builds.values())
        ]

    def _line(self, frame: dict[str, Any]) -> bytes:
        return b"%s D %s\n" % (str(self.conversation_id).encode(), orjson.dumps(frame))


class LivePublisher:
    """A worker process's one way out for deltas: a single connection and a single sender."""

    def __init__(self) -> None:
        self._redis = redis.asyncio.Redis.from_url(
            settings.REDIS_URL, socket_timeout=SOCKET_TIMEOUT_S
        )
        self._marked: dict[LiveTurn, None] = {}
        self._extra: list[tuple[str, bytes]] = []
        self._wanted = asyncio.Event()
        self._at_once = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._reachable = True

    def mark(self, turn: LiveTurn, *, at_once: bool) -> None:
        """Note that a turn has something to send."""
        self._marked[turn] = None
        self._idle.clear()
        self._wanted.set()
        if at_once:
            self._at_once.set()

    def answer(self, turn: LiveTurn) -> None:
        """Send a turn's open segments whole."""
        self._extra += [(live_channel(turn.conversation_id), line) for line in turn.whole()]
        self._wanted.set()
        self._at_once.set()

    async def drained(self) -> None:
        """Wait until everything marked so far has been handed over; not at all in an outage."""
        if self._reachable and not self._idle.is_set():
            self._at_once.set()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), SOCKET_TIMEOUT_S)

    async def run(self) -> None:
        """Send until cancelled. A Redis outage drops deltas; nobody waits for it."""
        try:
            while True:
                await self._wanted.wait()
                if not self._at_once.is_set():
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._at_once.wait(), BATCH_SECONDS)
                self._wanted.clear()
                self._at_once.clear()
                self._reachable = await self._send()
                if not self._marked or not self._reachable:
                    self._idle.set()
                if not self._reachable:
                    await asyncio.sleep(PAUSE_AFTER_FAILURE_S)
        finally:
            await self._redis.aclose()

    async def _send(self) -> bool:
        """Hand over everything marked; False when Redis could not take it."""
        batches: defaultdict[str, list[bytes]] = defaultdict(list)
        marked, self._marked = self._marked, {}
        for turn in marked:
            batches[live_channel(turn.conversation_id)] += turn.take()
        extra, self._extra = self._extra, []
        for channel, line in extra:
            batches[channel].append(line)
        try:
            for channel, lines in batches.items():
                if lines:
                    await self._redis.publish(channel, b"".join(lines))
        except (RedisError, OSError) as error:
            log.warning("live deltas dropped (%s)", type(error).__name__)
            return False
        return True

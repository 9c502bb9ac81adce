"""One hub a process and event loop: live traffic in, local fan-out to readers by conversation.

The journal is the truth. Redis only makes readers see it sooner and carries pieces of open
segments; with Redis gone every journal frame still arrives by polling. Nothing here holds a
database connection between two questions.
"""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar
from uuid import UUID
from weakref import WeakKeyDictionary

import orjson
from django.db import Error as DatabaseError
from django.db import close_old_connections

from agents.journal import replay
from agents.journal.offloading import in_database
from agents.streaming import entrance
from agents.streaming.listener import CloseCode, Closed, Listener, Overflowed
from agents.streaming.relay import Relay
from agents.streaming.subscription import Subscription
from agents.streaming.wire import Frame, durable, of_entry
from audit.limits import limit

POLL_S: Final = 2.0  # how late a frame can be when Redis loses everything
RECHECK_S: Final = 2.5  # with its own time below the promised 5 s
UNCHECKED_S: Final = 5.0  # nothing is handed out on a permission that was looked at longer ago
GIVE_UP_S: Final = 12.0  # without a re-check for this long readers are sent away
RETRY_S: Final = 0.5
WATCH_S: Final = 1.0
HOLD_S: Final = 0.05
KEEPALIVE_S: Final = 5.0  # looked at this often, so at most 10 s of silence
LINGER_S: Final = 10.0  # a reloading page finds its relay again
ASK_AGAIN_S: Final = 1.0
PAGE_ENTRIES: Final = 200
MEMBER_READERS: Final = limit(
    "streaming.readers", 50, "count", "Live connections of one person to one web process."
)
KEEPALIVE: Final = Frame('{"event":"keepalive"}', event="keepalive")

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)


class Room:
    """The readers of one conversation and what they share."""

    __slots__ = ("asked_at", "catching_up", "empty_since", "id", "joining", "listeners", "relay")

    def __init__(self, conversation_id: UUID) -> None:
        self.id = conversation_id
        self.relay = Relay()
        self.listeners: set[Listener] = set()
        self.joining = 0
        self.empty_since: float | None = None
        self.asked_at = 0.0
        self.catching_up = False

    def hand_out(self, frames: list[Frame]) -> None:
        """Give journal frames to everybody who is caught up."""
        for listener in self.listeners:
            listener.push(frames)


class Hub:
    """See the module. All methods belong to the event loop the hub was made in."""

    def __init__(self) -> None:
        self._rooms: dict[bytes, Room] = {}  # by the conversation id as the wire spells it
        self._readers: set[Listener] = set()
        self._of_member: defaultdict[int, int] = defaultdict(int)
        self._subscription = Subscription(on_payload=self._on_payload, on_ready=self._on_ready)
        self._routines: list[asyncio.Task[None]] = []
        self._errands: set[asyncio.Task[None]] = set()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="live-hub")
        self._checked_at = self._kept_alive_at = time.monotonic()
        self.draining = False

    # A reader's life.

    async def listen(
        self, listener: Listener, *, after: int, head: int
    ) -> AsyncGenerator[list[Frame], None]:
        """Everything after a position: the journal first, then live, without a gap or a repeat.

        `head` is a journal position known to exist. Yields batches; raises `Closed` when the
        server ends the reader. The caller must exhaust or close the iterator.
        """
        self._admit(listener)
        room = self._enter(listener)
        position = after
        try:
            while True:
                async for page in self._catch_up(room, listener, position, head):
                    yield page
                    position = page[-1].position
                try:
                    while True:
                        batch = await self._take(listener)
                        yield batch
                        position = max(position, max(frame.position for frame in batch))
                except Overflowed:
                    room.listeners.discard(listener)
                    listener.clear()
        finally:
            self._leave(room, listener)

    def drain(self) -> None:
        """Send everybody away, to come back to another process at once."""
        self.draining = True
        for listener in list(self._readers):
            listener.close(CloseCode.DRAINING)

    async def stop(self) -> None:
        """Drain, then end every task and connection of the hub."""
        self.drain()
        for task in [*self._routines, *self._errands]:
            task.cancel()
        await asyncio.gather(*self._routines, *self._errands, return_exceptions=True)
        self._routines.clear()
        await self._subscription.close()
        self._thread.shutdown(wait=False)

    def _admit(self, listener: Listener) -> None:
        if self.draining:
            raise Closed(CloseCode.DRAINING)
        if self._of_member[listener.credential.member.pk] >= MEMBER_READERS:
            raise Closed(CloseCode.TOO_FAST)

    def _enter(self, listener: Listener) -> Room:
        if not self._readers:
            self._checked_at = time.monotonic()
        self._readers.add(listener)
        self._of_member[listener.credential.member.pk] += 1
        name = str(listener.conversation_id).encode()
        room = self._rooms.get(name)
        if room is None:
            room = self._rooms[name] = Room(listener.conversation_id)
            self._subscription.open()
            if self._subscription.ready:
                self._ask(room)
        room.joining += 1
        room.empty_since = None
        if not self._routines:
            self._routines = [
                asyncio.create_task(self._every(POLL_S, self._poll), name="journal-poll"),
                asyncio.create_task(self._every(RECHECK_S, self._recheck), name="reader-recheck"),
                asyncio.create_task(self._every(WATCH_S, self._watch), name="reader-watch"),
            ]
        return room

    def _leave(self, room: Room, listener: Listener) -> None:
        room.listeners.discard(listener)
        room.joining -= 1
        if not room.joining:
            room.empty_since = time.monotonic()
        self._readers.discard(listener)
        self._of_member[listener.credential.member.pk] -= 1
        if not self._of_member[listener.credential.member.pk]:
            del self._of_member[listener.credential.member.pk]

    async def _take(self, listener: Listener) -> list[Frame]:
        """What came next; held while the database is too slow to say that they may still read."""
        batch = await listener.take()
        while time.monotonic() - self._checked_at > UNCHECKED_S:
            await asyncio.sleep(HOLD_S)
            if listener.code is not None:
                raise Closed(listener.code)
        return batch

    async def _catch_up(
        self, room: Room, listener: Listener, position: int, head: int
    ) -> AsyncGenerator[list[Frame], None]:
        """Pages from the relay's window or the journal until the reader stands where the room
        does; then joins it, with no chance for anything to happen in between.
        """
        relay = room.relay
        relay.wanted = max(relay.wanted, head)
        while True:
            if listener.code is not None:
                raise Closed(listener.code)
            if relay.position is not None and relay.position < position:
                # Redis lost frames this reader already has: bring the room up to the reader.
                if not await self._advance(room, relay.position):
                    raise Closed(CloseCode.UNAVAILABLE)
                continue
            page = relay.since(position)
            if page is None and position < relay.wanted:
                page = await self._advance(room, position)
                if not page:
                    relay.wanted = position
                    continue
            if page:
                yield page
                position = page[-1].position
                continue
            relay.start_at(position)
            room.listeners.add(listener)
            if listener.live:
                listener.push_first(relay.open_texts())
            return

    async def _advance(self, room: Room, position: int) -> list[Frame]:
        """Read a journal page and give the room what is next for it."""
        page = await in_database(_page, room.id, position)
        for frame in page:
            if room.relay.take(frame):
                room.hand_out([frame])
            elif room.relay.position is None:
                room.relay.supersede(frame)
        return page

    # What comes from Redis.

    def _on_payload(self, payload: bytes) -> None:
        """Lines of `<conversation> <letter> <json>`; unknown conversations cost one look-up."""
        for line in payload.splitlines():
            room = self._rooms.get(line[:36])
            if room is None:
                continue
            try:
                text = line[39:].decode()
                value = orjson.loads(text)
                if line[37:38] == b"D":
                    self._on_delta(room, value, text)
                elif line[37:38] == b"F":
                    self._on_frame(room, durable(value, text))
            except (ValueError, KeyError, TypeError) as error:
                log.warning("unreadable live message dropped (%s)", type(error).__name__)

    def _on_delta(self, room: Room, value: dict[str, Any], text: str) -> None:
        deltas, gap = room.relay.add(value, text)
        if deltas:
            for listener in room.listeners:
                if listener.live:
                    listener.push(deltas)
        if gap:
            self._ask(room)

    def _on_frame(self, room: Room, frame: Frame) -> None:
        if room.relay.take(frame):
            room.hand_out([frame])
        elif room.relay.behind():
            self._read_gap(room)

    def _on_ready(self) -> None:
        """After a (re)connection: ask for what was missed."""
        for room in self._rooms.values():
            self._ask(room)
        self._errand(self._poll())

    def _ask(self, room: Room) -> None:
        now = time.monotonic()
        if now - room.asked_at >= ASK_AGAIN_S:
            room.asked_at = now
            self._errand(self._subscription.ask(room.id))

    # What comes from the journal.

    def _read_gap(self, room: Room) -> None:
        """Read a room up to date, once for all its readers."""
        if not room.catching_up and room.relay.position is not None:
            room.catching_up = True
            self._errand(self._close_gap(room))

    async def _close_gap(self, room: Room) -> None:
        try:
            while room.relay.behind():
                before = room.relay.position or 0
                if not await self._advance(room, before):
                    # Announced but not there: the announcement was wrong, the journal is right.
                    room.relay.wanted = before
        finally:
            room.catching_up = False

    async def _poll(self) -> None:
        """One question about all rooms; forgets rooms that nobody came back to."""
        now = time.monotonic()
        for name, room in list(self._rooms.items()):
            if room.empty_since is not None and now - room.empty_since > LINGER_S:
                del self._rooms[name]
        if not self._rooms:
            await self._subscription.close()
            return
        occupied = [room for room in self._rooms.values() if room.listeners]
        if not occupied:
            return
        heads = await self._in_own_thread(replay.heads, [room.id for room in occupied])
        for room in occupied:
            room.relay.wanted = max(room.relay.wanted, heads.get(room.id, 0))
            if room.relay.behind():
                self._read_gap(room)

    # Who may go on reading.

    async def _recheck(self) -> None:
        readers = list(self._readers)
        started = time.monotonic()
        if readers:
            codes = await self._in_own_thread(
                entrance.withdrawn,
                [(reader.credential, reader.conversation_id) for reader in readers],
            )
            for reader, code in zip(readers, codes, strict=True):
                if code is not None:
                    reader.close(code)
        self._checked_at = started

    async def _watch(self) -> None:
        """Keep quiet connections open; let readers go who could not be re-checked in time."""
        now = time.monotonic()
        if self._readers and now - self._checked_at > GIVE_UP_S:
            log.warning("live readers sent away: their permission could not be checked")
            for reader in list(self._readers):
                reader.close(CloseCode.UNAVAILABLE)
        if now - self._kept_alive_at >= KEEPALIVE_S:
            self._kept_alive_at = now
            for reader in self._readers:
                if reader.quiet:
                    reader.push([KEEPALIVE])
                reader.quiet = True

    # Tasks.

    async def _in_own_thread(self, function: Callable[..., Answer], *args: Any) -> Answer:
        """Database work that must not queue behind requests: it keeps promises about time."""

        def work() -> Answer:
            try:
                return function(*args)
            finally:
                close_old_connections()

        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def _every(self, period_s: float, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `work` for ever; after a failure it is tried again sooner."""
        while True:
            await asyncio.sleep(period_s)
            while True:
                try:
                    await work()
                    break
                except DatabaseError as error:
                    log.warning("live readers wait for the database (%s)", type(error).__name__)
                except Exception:
                    # A routine that ends would leave readers unchecked or without frames.
                    log.exception("routine of the live hub failed")
                await asyncio.sleep(RETRY_S)

    def _errand(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(_tolerant(work))
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)


async def _tolerant(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except DatabaseError as error:
        log.warning("journal not read (%s); the next poll will", type(error).__name__)


def _page(conversation_id: UUID, position: int) -> list[Frame]:
    return [
        of_entry(entry) for entry in replay.after(conversation_id, position, limit=PAGE_ENTRIES)
    ]


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def current() -> Hub:
    """The hub of the running event loop, made at first use."""
    loop = asyncio.get_running_loop()
    hub = _hubs.get(loop)
    if hub is None:
        hub = _hubs[loop] = Hub()
    return hub

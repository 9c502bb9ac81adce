"""A real web server on the test database, readers, and a hand that writes into the journal."""

import asyncio
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import UUID, uuid4

import orjson
import pytest
import redis
import uvicorn
from django.conf import settings
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from agents.conversations import inputs
from agents.journal.append import Draft, append
from agents.journal.frames import Kind
from agents.journal.publication import live_channel
from agents.members import accounts, roles, tokens
from agents.members.models import Member, TokenScope
from audit.refusals import NotFound
from tests.patience import promised, until
from tests.stack import free_port

RECEIVE_S = promised(20)


class Server:
    """uvicorn in a thread of this process, so that it shares the test database."""

    def __init__(self) -> None:
        self.port = free_port()
        self._server = uvicorn.Server(
            uvicorn.Config(
                "kaizen.asgi:application",
                port=self.port,
                log_level="warning",
                ws_max_size=65_536,
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=2,
            )
        )
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        until(lambda: self._server.started, "the server has started")
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(10)


@pytest.fixture(scope="package")
def server(django_db_setup: None, django_db_blocker: Any) -> Iterator[Server]:
    """One web process for all tests of this folder; its routines need the database throughout."""
    with django_db_blocker.unblock(), Server() as running:
        yield running


@dataclass
class Scene:
    """Somebody's conversation, a token to read it with, and a turn that writes into it."""

    member: Member
    token: str
    token_id: UUID
    conversation_id: UUID
    turn_id: UUID = field(default_factory=uuid4)

    def write(self, *drafts: Draft) -> int:
        """Append to the journal; the position of the last entry."""
        return append(self.conversation_id, drafts, run_id=self.turn_id)[-1].position

    def notice(self, text: str) -> int:
        return self.write(Draft(Kind.NOTICE, {"message": text, "level": "info"}))

    def delta(self, text: str, offset: int, *, segment: int = 0, **more: Any) -> None:
        """Publish a live piece as a turn worker does."""
        self.send_line(
            "D",
            {
                "event": "delta",
                "turn_id": str(self.turn_id),
                "kind": "text",
                "segment": segment,
                "segment_start": False,
                "offset": offset,
                "text": text,
                **more,
            },
        )

    def send_line(self, letter: str, value: dict[str, Any]) -> None:
        line = f"{self.conversation_id} {letter} ".encode() + orjson.dumps(value) + b"\n"
        with redis.Redis.from_url(settings.REDIS_URL) as client:
            client.publish(live_channel(self.conversation_id), line)


def make_scene(member: Member, scope: TokenScope = TokenScope.WRITE) -> Scene:
    row, text = tokens.create(actor=member, name=secrets.token_hex(4), scope=scope, days=1)
    conversation = inputs.open_conversation(member=member)
    return Scene(member, text, row.id, conversation.id)


@pytest.fixture(scope="package")
def reader(server: Server) -> Member:
    """One person for all tests that do nothing to people: hashing a password takes long."""
    return accounts.create(
        actor="system:tests",
        username=f"alice-{secrets.token_hex(4)}",
        password=secrets.token_hex(8),
        role=roles.MEMBER,
    )


@pytest.fixture
def scene(server: Server, committed_db: None, reader: Member) -> Iterator[Scene]:
    """A new conversation with a token of its own, revoked afterwards: a person has few."""
    made = make_scene(reader)
    yield made
    with suppress(NotFound):
        tokens.revoke(actor=reader, token_id=made.token_id)


@pytest.fixture
def own_scene(server: Server, committed_db: None, make_member: Callable[..., Member]) -> Scene:
    """A conversation of somebody who is nobody else's."""
    return make_scene(make_member("alice"))


class Reader:
    """A socket client that keeps what it got."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def next(self, timeout_s: float = RECEIVE_S) -> dict[str, Any]:
        """The next frame that is not a keep-alive."""
        async with asyncio.timeout(timeout_s):
            while True:
                frame: dict[str, Any] = orjson.loads(await self.connection.recv())
                if frame["event"] != "keepalive":
                    return frame

    async def take(self, count: int, timeout_s: float = RECEIVE_S) -> list[dict[str, Any]]:
        return [await self.next(timeout_s) for _ in range(count)]

    async def text(self, length: int, known: str = "") -> str:
        """Live pieces up to a length, checked to have neither gap nor overlap. The server may
        send neighbouring pieces as one.
        """
        while len(known) < length:
            frame = await self.next()
            assert frame["event"] == "delta"
            assert frame["offset"] == len(known)
            known += frame["text"]
        return known

    async def nothing(self, for_s: float = 0.4) -> bool:
        """Whether nothing arrives for a while."""
        try:
            await self.next(for_s)
        except TimeoutError:
            return True
        return False

    async def closed(self, timeout_s: float = RECEIVE_S) -> int:
        """Read until the server closes; its code."""
        async with asyncio.timeout(timeout_s):
            with pytest.raises(ConnectionClosed) as end:
                await self._read_on()
        assert end.value.rcvd is not None
        return int(end.value.rcvd.code)

    async def _read_on(self) -> None:
        while True:
            await self.connection.recv()

    async def say(self, **message: Any) -> dict[str, Any]:
        """Send a message and wait for its reply."""
        await self.connection.send(orjson.dumps(message).decode())
        while True:
            frame = await self.next()
            if frame["event"] == "reply":
                return frame


@asynccontextmanager
async def reading(
    port: int, conversation_id: object, token: str | None = None, after: object = 0, **options: Any
) -> AsyncIterator[Reader]:
    """An open socket on a conversation."""
    protocols = ["kaizen.v1", *([f"bearer.{token}"] if token else [])]
    async with connect(
        f"ws://127.0.0.1:{port}/ws/conversations/{conversation_id}?after={after}",
        subprotocols=protocols,
        close_timeout=1,
        compression=None,
        **options,
    ) as connection:
        yield Reader(connection)

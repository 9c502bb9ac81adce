"""Delivery when connections, processes, readers and Redis misbehave."""

import asyncio
import math
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest
import redis
from django.conf import settings
from django.db import connections
from websockets.exceptions import ConnectionClosed

from agents.journal import publication
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.journal.offloading import in_database
from agents.members.models import Member
from agents.streaming.listener import CloseCode
from tests.patience import promised
from tests.stack import ROOT, free_port, url_of, wait_for
from tests.streaming.conftest import Reader, Scene, Server, make_scene, reading

NO_REDIS = "redis://127.0.0.1:1/0"  # nobody listens there
RECONNECTS = 60


@dataclass
class WebProcess:
    """A web process of its own."""

    port: int
    process: subprocess.Popen[bytes]


@contextmanager
def web_process(redis_url: str, environment: dict[str, str]) -> Iterator[WebProcess]:
    port = free_port()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "uvicorn", "kaizen.asgi:application"),
            *("--port", str(port), "--log-level", "warning"),
        ],
        cwd=ROOT,
        env={
            **environment,
            "DATABASE_URL": url_of(connections["default"].settings_dict),
            "REDIS_URL": redis_url,
        },
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/healthz", process)
        yield WebProcess(port, process)
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def environment() -> dict[str, str]:
    return dict(os.environ)


@pytest.fixture
def written(committed_db: None, make_member: Callable[..., Member]) -> Scene:
    """Alice's conversation, without a server of this process."""
    return make_scene(make_member("alice"))


@pytest.mark.req("STR-018")
async def test_reconnecting_anywhere_shows_every_frame_once_in_order(
    server: Server, scene: Scene
) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    total = 400
    seen: list[int] = []

    async def write() -> None:
        written = 0
        while written < total:
            count = min(dice.choice([1, 1, 2, 5, 30]), total - written)
            drafts = [Draft(Kind.NOTICE, {"message": "x", "level": "info"})] * count
            await in_database(scene.write, *drafts)
            written += count
            await asyncio.sleep(dice.random() * 0.02)

    async def read() -> None:
        connections_made = 0
        while len(seen) < total:
            connections_made += 1
            patience = dice.choice([0.001, 0.01, 0.05, 0.2]) if connections_made < RECONNECTS else 5
            with suppress(TimeoutError, ConnectionClosed):
                async with reading(
                    server.port, scene.conversation_id, scene.token, after=len(seen)
                ) as alice:
                    until = time.monotonic() + patience
                    while time.monotonic() < until and len(seen) < total:
                        seen.append((await alice.next(patience))["position"])

    async with asyncio.timeout(promised(60)), asyncio.TaskGroup() as group:
        group.create_task(write())
        group.create_task(read())
    assert seen == list(range(1, total + 1)), f"seed {seed}"


async def test_every_frame_arrives_while_redis_is_gone(
    written: Scene, environment: dict[str, str]
) -> None:
    with web_process(NO_REDIS, environment) as web:
        async with reading(web.port, written.conversation_id, written.token) as alice:
            assert await alice.nothing(0.2)
            for number in range(3):
                await in_database(written.notice, str(number))
                started = time.monotonic()
                assert (await alice.next())["position"] == number + 1
                assert time.monotonic() - started < promised(3)


async def test_two_web_processes_serve_the_same_conversation(
    server: Server, scene: Scene, environment: dict[str, str]
) -> None:
    with web_process(settings.REDIS_URL, environment) as other:
        async with (
            reading(server.port, scene.conversation_id, scene.token) as here,
            reading(other.port, scene.conversation_id, scene.token) as there,
        ):
            await in_database(scene.notice, "ready")
            assert await here.next() == await there.next()
            await in_database(scene.delta, "to both", 0)
            assert await here.next() == await there.next()


async def test_a_stopping_process_sends_its_readers_to_another_one(
    written: Scene, environment: dict[str, str]
) -> None:
    with web_process(settings.REDIS_URL, environment) as web:
        async with reading(web.port, written.conversation_id, written.token) as alice:
            await in_database(written.notice, "ready")
            await alice.next()
            web.process.send_signal(signal.SIGTERM)
            assert await alice.closed() == CloseCode.DRAINING
        assert await asyncio.to_thread(web.process.wait, promised(10)) in {0, -signal.SIGTERM}


async def test_an_idle_socket_still_works_after_8_seconds(server: Server, scene: Scene) -> None:
    """The Redis client ends quiet connections after 5 s unless it is told not to."""
    async with reading(server.port, scene.conversation_id, scene.token) as alice:
        await asyncio.sleep(8)
        await in_database(scene.delta, "still live", 0)
        assert (await alice.next())["text"] == "still live"


async def test_a_quiet_socket_gets_keepalives(server: Server, scene: Scene) -> None:
    async with reading(server.port, scene.conversation_id, scene.token) as alice:
        async with asyncio.timeout(promised(15)):
            assert await alice.connection.recv() == '{"event":"keepalive"}'


async def test_a_slow_reader_is_closed_and_others_are_not_held_up(
    server: Server, scene: Scene
) -> None:
    drafts = [Draft(Kind.NOTICE, {"message": "x" * 60_000, "level": "info"}) for _ in range(10)]
    total = 300
    async with (
        reading(server.port, scene.conversation_id, scene.token) as quick,
        slow_reader(server.port, scene) as slow,
    ):
        await in_database(scene.notice, "ready")
        await quick.next()
        await slow.next()
        received = asyncio.create_task(quick.take(total))
        for _ in range(total // 10):
            await in_database(scene.write, *drafts)
        assert [frame["position"] for frame in await received] == list(range(2, total + 2))
        assert await slow.closed() == CloseCode.TOO_SLOW


def slow_reader(port: int, scene: Scene) -> Any:
    """A client whose buffers fill quickly: little is read ahead of what the test asks for."""
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)
    narrow.connect(("127.0.0.1", port))
    narrow.setblocking(False)
    return reading(
        port, scene.conversation_id, scene.token, sock=narrow, max_queue=1, ping_interval=None
    )


@pytest.mark.usefixtures("nobody_works")
async def test_readers_hold_no_database_connection(server: Server, scene: Scene) -> None:
    others = await in_database(open_connections)
    readers: list[Any] = [
        reading(server.port, scene.conversation_id, scene.token) for _ in range(40)
    ]
    opened: list[Reader] = [await reader.__aenter__() for reader in readers]
    await in_database(scene.notice, "ready")
    for reader in opened:
        await reader.next()
    assert await in_database(open_connections) - others <= 10
    for reader in readers:
        await reader.__aexit__(None, None, None)


def open_connections() -> int:
    """Connections to the test database, those of other running processes included."""
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND usename = current_user"
        )
        return int(cursor.fetchone()[0])


@pytest.mark.req("STR-010")
@pytest.mark.usefixtures("nobody_works")
async def test_readers_share_one_subscription_to_redis(server: Server, scene: Scene) -> None:
    async with reading(server.port, scene.conversation_id, scene.token) as one:
        await in_database(scene.notice, "ready")
        await one.next()
        with_one_reader = subscribed_clients()
        async with (
            reading(server.port, scene.conversation_id, scene.token) as two,
            reading(server.port, scene.conversation_id, scene.token) as three,
        ):
            await two.next()
            await three.next()
            assert subscribed_clients() == with_one_reader >= 1


def subscribed_clients() -> int:
    """Clients of our own Redis database that listen to channels, of whatever process."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        number = client.connection_pool.connection_kwargs.get("db", 0)
        rows = client.client_list()
    return sum(row["db"] == str(number) and int(row["sub"]) > 0 for row in rows)


async def test_readers_at_different_positions_agree_after_redis_lost_frames(
    server: Server, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with reading(server.port, scene.conversation_id, scene.token) as behind:
        await in_database(scene.notice, "ready")
        await behind.next()
        monkeypatch.setattr(publication.doorbell(), "_quiet_until", math.inf)
        for number in range(3):
            await in_database(scene.notice, str(number))
        async with reading(server.port, scene.conversation_id, scene.token, after=3) as ahead:
            assert (await ahead.next())["position"] == 4
            assert [frame["position"] for frame in await behind.take(3)] == [2, 3, 4]
            assert await ahead.nothing(3)
            assert await behind.nothing(0.2)

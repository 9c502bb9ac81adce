"""Doorbells ring after the commit, carry the public frame, and may all be lost."""

import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest
import redis
from django.db import transaction

from agents.journal import publication
from agents.journal.append import Draft, append, open_stream
from agents.journal.frames import Kind, frame
from tests.patience import promised

LISTEN_S = promised(5)


@pytest.fixture
def stream(committed_db: None) -> UUID:
    stream_id = uuid4()
    open_stream(stream_id)
    return stream_id


@pytest.fixture
def heard(settings: Any, stream: UUID) -> Iterator[Any]:
    """A listener on the live channel of the stream."""
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=LISTEN_S)
    with client.pubsub(ignore_subscribe_messages=True) as subscription:
        subscription.subscribe(publication.live_channel(stream))
        subscription.get_message(timeout=LISTEN_S)
        yield subscription
    client.close()


@pytest.fixture
def new_doorbell(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process's doorbell made anew with the settings of the test."""
    monkeypatch.setattr(publication, "_doorbell", None)


def lines(message: Any) -> list[tuple[str, str, Any]]:
    found = []
    for line in message["data"].decode().splitlines():
        conversation, letter, body = line.split(" ", 2)
        found.append((conversation, letter, orjson.loads(body)))
    return found


def next_of(heard: Any, stream: UUID, within_s: float = LISTEN_S) -> list[tuple[str, str, Any]]:
    """The next message about the stream; other streams share the channel."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        message = heard.get_message(timeout=0.1)
        if message and str(stream).encode() in message["data"]:
            return lines(message)
    return []


def test_committed_entries_are_announced_as_public_frames_in_order(
    stream: UUID, heard: Any
) -> None:
    entries = append(
        stream,
        [Draft(Kind.THINKING, {"text": "line\nbreak"}, {"hidden": 1}), Draft(Kind.NOTICE, {})],
        run_id=uuid4(),
        input_id=uuid4(),
    )
    told = next_of(heard, stream)
    assert told == [(str(stream), "F", orjson.loads(orjson.dumps(frame(e)))) for e in entries]
    assert set(told[0][2]) == {"event", "position", "input_id", "turn_id", "at", "data"}
    assert "hidden" not in str(told)


def test_nothing_is_announced_before_the_commit_or_after_a_rollback(
    stream: UUID, heard: Any
) -> None:
    with transaction.atomic():
        append(stream, [Draft(Kind.NOTICE, {"message": "rolled back"})])
        assert next_of(heard, stream, within_s=0.3) == []
        transaction.set_rollback(True)
    append(stream, [Draft(Kind.NOTICE, {"message": "kept"})])
    assert [body["data"] for _, _, body in next_of(heard, stream)] == [{"message": "kept"}]


def connections_made(listener: socket.socket) -> int:
    """How often somebody has connected and waits to be served."""
    listener.setblocking(False)
    made = 0
    with suppress(BlockingIOError):
        while True:
            listener.accept()[0].close()
            made += 1
    return made


@pytest.mark.req("CFG-004")
def test_an_outage_costs_one_short_timeout_and_no_entry(
    stream: UUID, settings: Any, new_doorbell: None
) -> None:
    with socket.socket() as mute:  # accepts connections and never answers
        mute.bind(("127.0.0.1", 0))
        mute.listen(16)
        settings.REDIS_URL = f"redis://127.0.0.1:{mute.getsockname()[1]}/0"
        for _ in range(10):
            append(stream, [Draft(Kind.NOTICE, {})])
        assert 1 <= connections_made(mute) < 10
    assert append(stream, [Draft(Kind.NOTICE, {})])[0].position == 11


def test_a_refused_connection_does_not_delay_the_commit(
    stream: UUID, settings: Any, new_doorbell: None
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    began = time.monotonic()
    append(stream, [Draft(Kind.NOTICE, {})])
    assert time.monotonic() - began < promised(1.0)

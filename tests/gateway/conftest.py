"""Ways to ask a model server and keep what came back."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any
from uuid import UUID

import pytest_asyncio

from agents.gateway import sessions
from agents.gateway.connection import Connection
from agents.gateway.events import Completed, ModelRequest, StreamEvent
from agents.gateway.providers import scripted

HELLO = ModelRequest(messages=[{"role": "user", "content": "Hello"}])


def connect(url: str, **values: Any) -> Connection:
    """A connection to a server at a base URL."""
    values = {"unix_socket": None, "model": "m", "key": None, **values}
    return Connection(deployment_id=UUID(int=1), url=f"{url}/chat/completions", **values)


async def gather(events: Any) -> list[StreamEvent]:
    """All events of a stream."""
    async with aclosing(events) as stream:
        return [event async for event in stream]


def outcome(events: list[StreamEvent]) -> Completed:
    """The one outcome, which is the last event."""
    outcomes = [event for event in events if isinstance(event, Completed)]
    assert len(outcomes) == 1
    assert events[-1] is outcomes[0]
    return outcomes[0]


def said(events: list[StreamEvent], kind: type) -> str:
    """The text of all deltas of a kind."""
    return "".join(event.text for event in events if type(event) is kind)


@pytest_asyncio.fixture(autouse=True)
async def closed_sessions() -> AsyncIterator[None]:
    """No test leaves connections behind."""
    yield
    await sessions.close()


@pytest_asyncio.fixture
async def scripted_url() -> AsyncIterator[str]:
    """The base URL of a scripted model server."""
    runner = await scripted.serve(scripted.application(), host="127.0.0.1", port=0)
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    await runner.cleanup()


@pytest_asyncio.fixture
async def ask(scripted_url: str) -> Callable[..., ModelRequest]:
    """`ask("say: hi")`: a request with one message."""

    def make(text: str, **values: Any) -> ModelRequest:
        return ModelRequest(messages=[{"role": "user", "content": text}], **values)

    return make

"""The door to a model: one request in, typed events out, exactly one outcome at the end."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from agents.gateway import retries
from agents.gateway.connection import USUAL, Connection, Lifecycle
from agents.gateway.events import (
    AttemptFailed,
    Completed,
    ModelRequest,
    StreamEvent,
    TextDelta,
)
from agents.gateway.providers import constrained, openai_compatible


async def stream(
    connection: Connection, request: ModelRequest, lifecycle: Lifecycle = USUAL
) -> AsyncGenerator[StreamEvent, None]:
    """Ask the model. The last event is a `Completed`, and there is no other.

    Faults of the provider never raise. An attempt that failed before any answer text is repeated
    as `retries` says; an `AttemptFailed` is given before each pause. Thinking of a failed attempt
    stays given. Cancelling the reader, also in a pause, or closing the generator ends the request
    and its connection. Read it inside `contextlib.aclosing`.
    """
    number = 0
    while True:
        number += 1
        answering = False
        completed: Completed | None = None
        async with aclosing(once(connection, request, lifecycle)) as events:
            async for event in events:
                if type(event) is Completed:
                    completed = event
                else:
                    answering = answering or type(event) is TextDelta
                    yield event
        assert completed is not None, "a provider ends every attempt with one outcome"
        pause_s = None
        if completed.failure is not None and not answering:
            pause_s = retries.wait_s(
                completed.failure,
                attempt=number,
                retries=lifecycle.retries,
                jitter=random.random(),
            )
        if completed.failure is None or pause_s is None:
            yield replace(completed, attempts=number)
            return
        yield AttemptFailed(
            number,
            completed.failure,
            completed.usage,
            pause_s,
            completed.first_token_ms,
            completed.duration_ms,
        )
        await asyncio.sleep(pause_s)


def once(
    connection: Connection, request: ModelRequest, lifecycle: Lifecycle = USUAL
) -> AsyncGenerator[StreamEvent, None]:
    """As `stream`, with one attempt only."""
    if connection.tool_calls == "native":
        return openai_compatible.attempt(connection, request, lifecycle)
    if connection.tool_calls == "none":
        request = replace(request, tools=[])
    return constrained.attempt(connection, request, lifecycle)

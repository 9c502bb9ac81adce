"""The event stream of a conversation over plain HTTP."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final
from uuid import UUID

from django.db import Error as DatabaseError
from django.http import HttpRequest
from django.http.response import StreamingHttpResponse

from agents.journal.offloading import in_database
from agents.streaming import cursors, entrance, hub
from agents.streaming.entrance import Entrance
from agents.streaming.listener import Closed, Listener
from audit.reasons import Reason
from audit.refusals import Refusal

RETRY: Final = b"retry: 1000\n\n"  # milliseconds after which a browser opens the stream again


async def events(request: HttpRequest, conversation_id: UUID) -> StreamingHttpResponse:
    """Journal frames after a position, then live ones, as server-sent events.

    The position is the header `Last-Event-ID` (a browser's reconnect), else `?after=`, else 0.
    Raises `Refusal`; the composition root turns it into the answer every door gives.
    """
    after = _after(request)
    try:
        entered = await in_database(entrance.enter, request.scope, conversation_id)  # type: ignore[attr-defined]  # ASGI only
    except DatabaseError as error:
        raise Refusal(Reason.UNAVAILABLE, "Busy at the moment. Try again.") from error
    if after > entered.head:
        raise Refusal(Reason.INVALID_CURSOR, "The conversation has no such position yet.")
    if hub.current().draining:
        raise Refusal(Reason.DRAINING, "This server is going down. Open the stream again.")
    response = StreamingHttpResponse(
        _stream(conversation_id, entered, after), content_type="text/event-stream"
    )
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response


async def _stream(
    conversation_id: UUID, entered: Entrance, after: int
) -> AsyncGenerator[bytes, None]:
    listener = Listener(conversation_id, entered.credential, live=False)
    yield RETRY
    try:
        async with aclosing(
            hub.current().listen(listener, after=after, head=entered.head)
        ) as batches:
            async for batch in batches:
                yield b"".join([item.event_stream() for item in batch])
    except (Closed, DatabaseError):
        # The client opens the stream again with its last position and learns the reason there.
        return


def _after(request: HttpRequest) -> int:
    last = request.headers.get("Last-Event-ID")
    if last:
        return cursors.from_text(last)
    return cursors.from_query(request.META.get("QUERY_STRING", ""))

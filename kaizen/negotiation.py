"""The events of a conversation: a live stream or a page of JSON, by what the caller accepts.

The two doors do not know each other, so the choice is made here.
"""

from typing import Any, Final
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from agents.api import errors
from agents.api.conversations import ConversationEvents
from agents.streaming import sse
from audit.refusals import Refusal

STREAM: Final = "text/event-stream"
JSON: Final = "application/json"

_as_json = ConversationEvents.as_view()


async def events(request: HttpRequest, conversation_id: UUID | None) -> HttpResponseBase:
    """The stream unless JSON is what the caller likes better (`*/*` gets the stream)."""
    if conversation_id is None or request.method != "GET" or not prefers_stream(request):
        answer = sync_to_async(_as_json, thread_sensitive=True)
        return await answer(request, conversation_id=conversation_id)
    try:
        return await sse.events(request, conversation_id)
    except Refusal as refusal:
        return errors.respond(refusal)


def prefers_stream(request: HttpRequest) -> bool:
    """Whether the stream is acceptable and liked at least as well as JSON."""
    stream, page = _quality(request, STREAM), _quality(request, JSON)
    return stream > 0 and stream >= page


def _quality(request: HttpRequest, media_type: str) -> float:
    """How much the most specific range that covers the type is liked, from 0 to 1."""
    ranges = [accepted for accepted in request.accepted_types if accepted.match(media_type)]
    if not ranges:
        return 0.0
    return float(max(ranges, key=lambda accepted: accepted.specificity).quality)


# The generated document finds the view class of a route here, and CSRF is the doors' own affair.
_described: Any = csrf_exempt(events)
_described.cls = ConversationEvents
_described.initkwargs = {}
events_of_conversation = _described

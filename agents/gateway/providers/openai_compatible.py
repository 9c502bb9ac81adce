"""One attempt at a streamed chat completion, in the protocol most model servers speak."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from logging import getLogger
from typing import Any

import aiohttp
import orjson

from agents.gateway import certificates, failures, schemas, sessions
from agents.gateway.connection import USUAL, Connection, Lifecycle
from agents.gateway.events import (
    Completed,
    ModelRequest,
    ProviderFailure,
    StreamEvent,
    ToolOffer,
)
from agents.gateway.reducer import Reducer
from agents.gateway.sse import EventReader, EventTooLong
from agents.gateway.watch import Watch
from audit.limits import limit

MAX_RESPONSE_BYTES = limit(
    "model.response", 64 * 1024 * 1024, "bytes", "Longest answer a model server may send."
)
ERROR_BODY_S = 5.0
DRAIN_S = 1.0
# Members of a request that some servers do not know; they are left out when one says so.
OPTIONAL_MEMBERS = ("stream_options", "reasoning_effort")

Body = dict[str, Any]
# Given a status and the refusal's text: another body worth one more try, or None.
Adjust = Callable[[int, str], Body | None]

_log = getLogger(__name__)
_draining: set[asyncio.Task[None]] = set()


def attempt(
    connection: Connection, request: ModelRequest, lifecycle: Lifecycle = USUAL
) -> AsyncGenerator[StreamEvent, None]:
    """The request as it is, with native tool calls. One `Completed`, last; see `exchange`."""
    sent = body(connection, request)
    if request.tools:
        sent["tools"] = _tools(request.tools)

    def adjust(status: int, text: str) -> Body | None:
        if request.tools and failures.is_grammar_refusal(status, text):
            offers = [
                replace(tool, parameters=schemas.unbounded(tool.parameters))
                for tool in request.tools
            ]
            return {**sent, "tools": _tools(offers)}
        return without_unknown(sent, status, text)

    return exchange(connection, sent, adjust, lifecycle)


def body(connection: Connection, request: ModelRequest) -> Body:
    """The request's JSON without tools."""
    made: Body = {
        "model": connection.model,
        "messages": request.messages,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    max_tokens = request.max_output_tokens or connection.max_output_tokens
    if max_tokens:
        made["max_tokens"] = max_tokens
    effort = request.effort or connection.effort
    if effort and connection.takes_effort:
        made["reasoning_effort"] = effort
    return made


def without_unknown(sent: Body, status: int, text: str) -> Body | None:
    """The body again without what the server says it does not know, None when it is not that."""
    if status not in (400, 422):
        return None
    if "max_tokens" in sent and "max_completion_tokens" in text:
        renamed = {name: value for name, value in sent.items() if name != "max_tokens"}
        return {**renamed, "max_completion_tokens": sent["max_tokens"]}
    unknown = [name for name in OPTIONAL_MEMBERS if name in sent and name in text]
    return {name: value for name, value in sent.items() if name not in unknown} if unknown else None


async def exchange(
    connection: Connection, sent: Body, adjust: Adjust, lifecycle: Lifecycle = USUAL
) -> AsyncGenerator[StreamEvent, None]:
    """Send a body and give the events of its answer, exactly one `Completed` at the end.

    Never raises for a fault of the provider. Cancelling or closing it closes the connection.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    opened = await _open(connection, sent, adjust)
    if isinstance(opened, ProviderFailure):
        yield _failed(opened, _milliseconds(started, loop.time()))
        return
    answer = _Answer(opened, connection, lifecycle, started)
    first_token: int | None = None
    try:
        while (events := await answer.read()) is not None:
            if first_token is None and events:
                first_token = _milliseconds(started, loop.time())
            for event in events:
                yield event
    finally:
        answer.release()
    yield replace(
        answer.outcome(),
        first_token_ms=first_token,
        duration_ms=_milliseconds(started, loop.time()),
    )


class _Answer:
    """An HTTP answer with status 200 while its body is read."""

    def __init__(
        self,
        response: aiohttp.ClientResponse,
        connection: Connection,
        lifecycle: Lifecycle,
        started: float,
    ) -> None:
        self._response = response
        self._content = response.content
        self._reader = EventReader()
        self._reducer = Reducer(
            inline_think_tags=connection.inline_think_tags,
            reasoning_starts_open=connection.reasoning_starts_open,
        )
        self._watch = Watch(connection.timeouts.first_byte_s, lifecycle, started, response.close)
        self._received = 0
        # A server that does not stream sends one JSON text.
        self._whole = bytearray() if response.content_type == "application/json" else None
        self._hurried = False
        self._talks_on = False
        self._over = False
        self._broken: ProviderFailure | None = None

    async def read(self) -> list[StreamEvent] | None:
        """The events of the next network read, None once the answer ended or broke."""
        if self._over:
            return None
        try:
            data = await self._content.readany()
            self._received += len(data)
            if self._received > MAX_RESPONSE_BYTES:
                raise EventTooLong
            return self._reduced(data)
        except EventTooLong:
            self._broken = failures.garbage(retryable=False)
        except (aiohttp.ClientError, ConnectionError):
            self._broken = self._cut()
        self._over = True
        return self._reducer.flush()

    def _cut(self) -> ProviderFailure:
        """What it means that the body ended too early. A line that fell silent is as good as one
        that broke; a server that never began to answer would only be waited for again.
        """
        if self._watch.expired:
            return failures.timed_out(retryable=self._watch.fell_silent)
        return failures.cut_off()

    def _reduced(self, data: bytes) -> list[StreamEvent]:
        reader, reducer = self._reader, self._reducer
        self._watch.seen()
        if self._whole is not None and not self._whole and data.lstrip()[:1] not in (b"", b"{"):
            self._whole = None  # an event stream that is called JSON
        if self._whole is not None:
            self._whole += data
            payloads = [] if data else [bytes(self._whole)]
        else:
            payloads = reader.feed(data) if data else reader.close()
        events = reducer.feed(payloads)
        for payload in reader.errors:
            reducer.fail(payload)
        if not data or reducer.done or reducer.failure is not None:
            self._over = True
            events += reducer.flush()
        elif reducer.ended and not self._hurried:
            self._hurried = True
            self._watch.nearly_done()
        elif self._hurried and events and not self._talks_on:
            # Some servers put the finish label on every chunk.
            self._talks_on = True
            self._watch.goes_on()
        return events

    def outcome(self) -> Completed:
        self._reducer.stray(bytes(self._reader.stray_text))
        self._reducer.junk += self._reader.strays
        if self._reducer.junk:
            _log.warning("a model server sent %d unreadable events", self._reducer.junk)
        return self._reducer.outcome(self._broken)

    def release(self) -> None:
        """Keep the connection when the body is at its end or nearly so, else close it."""
        self._watch.stop()
        if self._content.at_eof() and self._broken is None:
            self._response.release()
        elif self._reducer.done and self._broken is None:
            task = asyncio.get_running_loop().create_task(_drain(self._response))
            _draining.add(task)
            task.add_done_callback(_draining.discard)
        else:
            self._response.close()


async def _open(
    connection: Connection, sent: Body, adjust: Adjust
) -> aiohttp.ClientResponse | ProviderFailure:
    """The answer to read, after at most one adjustment of the body."""
    opened = await _post(connection, sent)
    if not isinstance(opened, _Refused):
        return opened
    adjusted = adjust(opened.status, opened.text)
    if adjusted is None:
        return opened.failure
    opened = await _post(connection, adjusted)
    return opened.failure if isinstance(opened, _Refused) else opened


@dataclass(frozen=True, slots=True)
class _Refused:
    """An answer that is no answer. `text` never leaves this module."""

    status: int
    text: str
    failure: ProviderFailure


async def _post(
    connection: Connection, sent: Body
) -> aiohttp.ClientResponse | ProviderFailure | _Refused:
    try:
        async with asyncio.timeout(connection.timeouts.first_byte_s):
            response = await _send(connection, orjson.dumps(sent))
    except (aiohttp.ClientConnectorCertificateError, certificates.Unreadable):
        return failures.untrusted()
    except (aiohttp.ServerTimeoutError, aiohttp.ClientConnectionError, ConnectionError):
        return failures.unreachable()
    except TimeoutError:
        return failures.timed_out()
    except aiohttp.InvalidURL:
        return failures.from_status(404, "", {}, datetime.now(UTC))
    except aiohttp.ClientError:
        return failures.garbage(retryable=True)
    if response.status == 200 and response.content_type != "text/html":
        return response
    return await _refused(response)


async def _send(connection: Connection, data: bytes) -> aiohttp.ClientResponse:
    """The head of the answer. A kept connection that turns out to be closed by now says nothing
    about the server, so the request is sent once more at once.
    """
    try:
        return await _request(connection, data)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
        return await _request(connection, data)


async def _request(connection: Connection, data: bytes) -> aiohttp.ClientResponse:
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
    if connection.key:
        headers["Authorization"] = f"Bearer {connection.key}"
    return await sessions.current(connection.unix_socket).post(
        connection.url,
        data=data,
        headers=headers,
        allow_redirects=False,
        ssl=certificates.context(connection.tls),
        timeout=aiohttp.ClientTimeout(sock_connect=connection.timeouts.connect_s),
    )


async def _refused(response: aiohttp.ClientResponse) -> ProviderFailure | _Refused:
    if response.status == 200:
        response.close()
        # A page where an answer should be is a sign-in page or a proxy: asking again helps nobody.
        return failures.garbage(retryable=False, status=200)
    text = await _error_text(response)
    failure = failures.from_status(response.status, text, response.headers, datetime.now(UTC))
    return _Refused(response.status, text, failure)


async def _error_text(response: aiohttp.ClientResponse) -> str:
    """As much of an error body as arrives soon, for choosing a code."""
    data = b""
    try:
        async with asyncio.timeout(ERROR_BODY_S):
            while len(data) < failures.MAX_ERROR_BODY_BYTES:
                piece = await response.content.readany()
                if not piece:
                    break
                data += piece
    except (aiohttp.ClientError, ConnectionError, TimeoutError):
        pass  # the status alone has to do
    finally:
        response.close()
    return data[: failures.MAX_ERROR_BODY_BYTES].decode(errors="replace")


async def _drain(response: aiohttp.ClientResponse) -> None:
    """Read the end of a finished body, so that its connection can serve again."""
    try:
        async with asyncio.timeout(DRAIN_S):
            while await response.content.readany():
                pass
        response.release()
    except (aiohttp.ClientError, ConnectionError, TimeoutError):
        response.close()
    except RuntimeError:  # all connections of this loop were closed meanwhile
        pass


def _tools(offers: list[ToolOffer]) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {
                "name": offer.name,
                "description": offer.description,
                "parameters": offer.parameters,
            },
        }
        for offer in offers
    ]


def _failed(failure: ProviderFailure, duration_ms: int) -> Completed:
    return Completed("", "", (), "failed", None, failure, duration_ms=duration_ms)


def _milliseconds(started: float, now: float) -> int:
    return round((now - started) * 1000)

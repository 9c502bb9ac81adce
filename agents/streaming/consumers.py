"""The socket of one conversation."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import aclosing, suppress
from typing import Any, Final
from uuid import UUID

import orjson
from channels.generic.websocket import (  # type: ignore[import-untyped]  # ships no types
    AsyncWebsocketConsumer,
)
from django.db import Error as DatabaseError

from agents.conversations import inputs, projection, steers
from agents.journal.offloading import in_database
from agents.members.credentials import Credential
from agents.members.models import TokenScope
from agents.streaming import cursors, entrance, hub
from agents.streaming.listener import CloseCode, Closed, Listener
from agents.streaming.rates import Allowance
from agents.streaming.wire import joined
from audit import canonical
from audit.limits import limit
from audit.reasons import Reason
from audit.refusals import Invalid, NotFound, Refusal

SUBPROTOCOL: Final = "kaizen.v1"
MESSAGE_BYTES: Final = limit(
    "streaming.message", 65_536, "bytes", "Size of one message from a client to its socket."
)
MESSAGES_PER_SECOND: Final = 20
MESSAGE_BURST: Final = 40
CLOSE_TIMEOUT_S: Final = 10.0  # a client that reads nothing does not get its close frame either

UNAVAILABLE: Final = Refusal(Reason.UNAVAILABLE, "The database does not answer. Send it again.")

log = logging.getLogger(__name__)

Answer = tuple[int, dict[str, Any]]


class ConversationConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels is untyped
    """Journal frames and live pieces out; inputs, steers and stops in, answered as the POST would
    answer.
    """

    # No channel layer: it would hold connections for messages that nobody sends here.
    channel_layer_alias = "none"

    async def connect(self) -> None:
        """Open, then decide: only an open socket can carry the reason of its closing."""
        self.listener: Listener | None = None
        self.delivery: asyncio.Task[None] | None = None
        self.allowance = Allowance(
            per_second=MESSAGES_PER_SECOND, burst=MESSAGE_BURST, now=time.monotonic()
        )
        offered = self.scope.get("subprotocols", ())
        await self.accept(SUBPROTOCOL if SUBPROTOCOL in offered else None)
        conversation_id: UUID = self.scope["url_route"]["kwargs"]["conversation_id"]
        try:
            after = cursors.from_query(self.scope["query_string"].decode("latin-1"))
            entered = await in_database(entrance.enter, self.scope, conversation_id)
        except Refusal as refusal:
            await self.close(_code(refusal))
        except DatabaseError:
            await self.close(CloseCode.UNAVAILABLE)
        else:
            self.listener = Listener(conversation_id, entered.credential, live=True)
            self.delivery = asyncio.create_task(
                self._deliver(self.listener, min(after, entered.head), entered.head)
            )
            self.listener.task = self.delivery

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """One message of the client, answered with one reply."""
        if self.listener is None or self.listener.code is not None:
            return
        if not self.allowance.spend(time.monotonic()):
            self.listener.close(CloseCode.TOO_FAST)
            return
        raw = bytes_data if bytes_data is not None else (text_data or "").encode()
        key: str | None = None
        try:
            message = _read(raw)
            key = message.get("idempotency_key")
            status, body = await in_database(
                _perform, self.listener.credential, self.listener.conversation_id, message
            )
        except Closed as closed:
            self.listener.close(closed.code)
            return
        except Refusal as refusal:
            status, body = projection.status(refusal), projection.error(refusal)
        except DatabaseError:
            status, body = projection.status(UNAVAILABLE), projection.error(UNAVAILABLE)
        if self.listener.code is not None:
            return  # sent away meanwhile; a closing socket takes no more messages
        reply = {"event": "reply", "to": key, "status": status, "body": body}
        await self.send(text_data=orjson.dumps(reply).decode())

    async def disconnect(self, code: int) -> None:
        """The client left or was sent away; either way nothing is delivered any more."""
        if self.delivery is not None and not self.delivery.done():
            self.delivery.cancel()
            with suppress(asyncio.CancelledError):
                await self.delivery

    async def _deliver(self, listener: Listener, after: int, head: int) -> None:
        send = self.base_send
        try:
            async with aclosing(hub.current().listen(listener, after=after, head=head)) as batches:
                async for batch in batches:
                    for frame in batch if len(batch) == 1 else joined(batch):
                        await send({"type": "websocket.send", "text": frame.text})
        except Closed as closed:
            await self._send_away(closed.code)
        except DatabaseError:
            await self._send_away(CloseCode.UNAVAILABLE)
        except asyncio.CancelledError:
            if listener.code is None:
                raise
            await self._send_away(listener.code)
        except OSError:
            # The server says so when the client has left; `disconnect` follows.
            return
        except Exception:
            log.exception("delivery to a socket failed")
            await self._send_away(CloseCode.FAULT)

    async def _send_away(self, code: CloseCode) -> None:
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self.close(code)


class NowhereConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels is untyped
    """Sockets of addresses that do not exist: the same answer as a missing conversation."""

    channel_layer_alias = "none"

    async def connect(self) -> None:
        offered = self.scope.get("subprotocols", ())
        await self.accept(SUBPROTOCOL if SUBPROTOCOL in offered else None)
        await self.close(CloseCode.NOT_VISIBLE)


def _read(raw: bytes) -> dict[str, Any]:
    """A client message as a mapping with a known type; raises `Refusal`."""
    message = canonical.parse(raw, limit_bytes=MESSAGE_BYTES)
    if not isinstance(message, dict):
        raise Invalid([{"field": "", "reason": str(Reason.INVALID_BODY)}])
    if not isinstance(message.get("type"), str) or message["type"] not in _OPERATIONS:
        raise Invalid([{"field": "type", "reason": str(Reason.INVALID_FIELD)}])
    if not isinstance(message.get("idempotency_key"), str | None):
        raise Invalid([{"field": "idempotency_key", "reason": str(Reason.INVALID_FIELD)}])
    return message


def _perform(credential: Credential, conversation_id: UUID, message: dict[str, Any]) -> Answer:
    """Look at the caller again, then do what the message asks; operations find only
    conversations that the caller may still see.
    """
    try:
        now = entrance.recognise(credential)
    except Refusal as refusal:
        raise Closed(_code(refusal)) from refusal
    if not now.allows(TokenScope.WRITE):
        raise Refusal(Reason.SCOPE_MISSING, "This token may read only.")
    try:
        return _OPERATIONS[message["type"]](now, conversation_id, message)
    except NotFound as refusal:
        raise Closed(_code(refusal)) from refusal


def _body(message: dict[str, Any]) -> dict[str, Any]:
    """What the POST would carry as its body."""
    return {
        name: value for name, value in message.items() if name not in {"type", "idempotency_key"}
    }


def _key(message: dict[str, Any]) -> str:
    key: str | None = message.get("idempotency_key")
    if key is None:
        raise Refusal(Reason.IDEMPOTENCY_KEY_REQUIRED, "Send an idempotency_key.")
    return key


def _input(credential: Credential, conversation_id: UUID, message: dict[str, Any]) -> Answer:
    key = _key(message)
    accepted = inputs.accept(
        member=credential.member,
        conversation_id=conversation_id,
        message=projection.message(_body(message)),
        key=key,
    )
    return projection.ACCEPTED_STATUS, projection.acceptance(accepted)


def _steer(credential: Credential, conversation_id: UUID, message: dict[str, Any]) -> Answer:
    key = _key(message)
    turn_id, text = projection.steering(_body(message))
    accepted = steers.accept(
        member=credential.member,
        conversation_id=conversation_id,
        turn_id=turn_id,
        message=text,
        key=key,
    )
    return projection.ACCEPTED_STATUS, projection.steer_acceptance(accepted)


def _stop(credential: Credential, conversation_id: UUID, message: dict[str, Any]) -> Answer:
    unknown = sorted(_body(message))
    if unknown:
        raise Invalid([{"field": name, "reason": str(Reason.UNKNOWN_FIELD)} for name in unknown])
    stopped = inputs.stop(member=credential.member, conversation_id=conversation_id)
    return projection.ACCEPTED_STATUS, {"stopping": len(stopped)}


def _code(refusal: Refusal) -> CloseCode:
    if isinstance(refusal, NotFound) or refusal.reason == Reason.INVALID_CURSOR:
        return CloseCode.NOT_VISIBLE
    return CloseCode.NOT_SIGNED_IN


_OPERATIONS: Final[Mapping[str, Callable[[Credential, UUID, dict[str, Any]], Answer]]] = {
    "input": _input,
    "steer": _steer,
    "stop": _stop,
}

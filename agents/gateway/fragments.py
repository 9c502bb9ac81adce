"""Streamed tool call fragments joined into calls. Pure.

Servers differ in what they repeat: the index, the id, the name, all of them or none. The rules:
only a non-empty id or name says anything; an index joins fragments whatever their order; without
an index an id or a name opens a call and bare arguments continue the last one opened.
"""

import json
from typing import Any

from agents.gateway import arguments
from agents.gateway.events import ToolCallDelta
from audit.limits import limit

MAX_CALLS = limit(
    "model.calls_per_step", 64, "count", "Most tool calls a model may ask for in one step."
)


class TooManyCalls(Exception):
    """The model asked for more than `MAX_CALLS` calls in one step."""


class JoinedCall:
    """One call as far as it has come."""

    __slots__ = ("id", "index", "length", "name", "parts")

    def __init__(self, index: int, provider_id: str, name: str) -> None:
        self.index = index
        self.id = provider_id
        self.name = name
        self.parts: list[str] = []
        self.length = 0

    @property
    def raw(self) -> str:
        """The argument text. Halves of characters that met here become whole ones."""
        text = "".join(self.parts)
        if text.isascii():
            return text
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class CallJoiner:
    """The calls of one attempt."""

    def __init__(self) -> None:
        self._calls: list[JoinedCall] = []
        self._by_index: dict[int, JoinedCall] = {}
        self._touched: dict[int, JoinedCall] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    @property
    def touched(self) -> bool:
        return bool(self._touched)

    def add(self, fragment: Any) -> None:
        """Take one element of a delta's `tool_calls`. Raises `TooManyCalls`."""
        if not isinstance(fragment, dict):
            return
        function = fragment.get("function")
        function = function if isinstance(function, dict) else {}
        provider_id = _words(fragment.get("id"))
        name = _words(function.get("name"))
        call = self._target(fragment.get("index"), provider_id, name)
        call.id = call.id or provider_id
        call.name = _grown(call.name, name)
        piece = function.get("arguments")
        if isinstance(piece, dict):
            # Some servers send the arguments as an object that is already read.
            piece = json.dumps(piece, ensure_ascii=False)
        if isinstance(piece, str) and piece:
            call.parts.append(piece)
            call.length += len(piece)
        self._touched[id(call)] = call

    def deltas(self) -> list[ToolCallDelta]:
        """One delta for each call that grew since the last time."""
        grown = [
            ToolCallDelta(self._calls.index(call), call.name, call.length)
            for call in self._touched.values()
        ]
        self._touched.clear()
        return grown

    def joined(self) -> list[JoinedCall]:
        """All calls in the order of their index; calls that share one keep their order."""
        return sorted(self._calls, key=lambda call: call.index)

    def _target(self, index: Any, provider_id: str, name: str) -> JoinedCall:
        if isinstance(index, int) and not isinstance(index, bool):
            call = self._by_index.get(index)
            if call is None or _is_another(call, provider_id, name):
                call = self._open(index, provider_id, name)
                self._by_index[index] = call
            return call
        if provider_id:
            known = next((call for call in self._calls if call.id == provider_id), None)
            return known or self._open(self._next_index(), provider_id, name)
        if name or not self._calls:
            return self._open(self._next_index(), provider_id, name)
        return self._calls[-1]

    def _next_index(self) -> int:
        return max((call.index for call in self._calls), default=-1) + 1

    def _open(self, index: int, provider_id: str, name: str) -> JoinedCall:
        if len(self._calls) >= MAX_CALLS:
            raise TooManyCalls
        call = JoinedCall(index, provider_id, name)
        self._calls.append(call)
        return call


def _words(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _grown(so_far: str, name: str) -> str:
    """A name that is repeated, sent as a running total, or sent in pieces."""
    if not name or so_far == name:
        return so_far
    if not so_far or name.startswith(so_far):
        return name
    return so_far + name


def _is_another(call: JoinedCall, provider_id: str, name: str) -> bool:
    """Whether a fragment with a known index starts a new call all the same.

    Some servers give every parallel call index 0 and a new id; others give every fragment of one
    call a new id. Only a new id together with a name can be a new call, and with the same name
    only when the call so far is whole.
    """
    if not provider_id or not call.id or provider_id == call.id or not name:
        return False
    return name != call.name or not call.parts or arguments.is_whole(call.raw)

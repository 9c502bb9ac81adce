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

    __slots__ = ("id", "index", "length", "name", "parts", "shares_index", "told")

    def __init__(self, index: int, provider_id: str, name: str) -> None:
        self.index = index
        self.id = provider_id
        self.name = name
        self.parts: list[str] = []
        self.told = 0  # of the parts
        self.length = 0
        self.shares_index = False  # with a call opened earlier

    @property
    def raw(self) -> str:
        """The argument text. Halves of characters that met here become whole ones."""
        text = "".join(self.parts)
        if text.isascii():
            return text
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def news(self) -> str:
        """What came of the argument text since the last time."""
        new = "".join(self.parts[self.told :])
        self.told = len(self.parts)
        return new


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
        piece = function.get("arguments")
        if isinstance(piece, dict):
            # Some servers send the arguments as an object that is already read.
            piece = json.dumps(piece, ensure_ascii=False)
        piece = _words(piece)
        call = self._target(fragment.get("index"), provider_id, name, piece)
        call.id = call.id or provider_id
        call.name = _grown(call.name, name)
        if piece and not (name and _is_told(piece) and piece.strip() == call.raw.strip()):
            # Otherwise the server says the whole call once more.
            call.parts.append(piece)
            call.length += len(piece)
        self._touched[id(call)] = call

    def deltas(self) -> list[ToolCallDelta]:
        """One delta for each call that grew since the last time."""
        grown = [
            ToolCallDelta(self._calls.index(call), call.name, call.length, call.news())
            for call in self._touched.values()
        ]
        self._touched.clear()
        return grown

    def joined(self) -> list[JoinedCall]:
        """All calls in the order of their index; calls that share one keep their order."""
        return sorted(self._calls, key=lambda call: call.index)

    def _target(self, index: Any, provider_id: str, name: str, piece: str) -> JoinedCall:
        number = _number(index)
        if number is None:
            return self._unnumbered(provider_id, name)
        call = self._by_index.get(number)
        if call is None:
            call = self._renumbered(provider_id, name) or self._open(number, provider_id, name)
        elif provider_id and not name:
            call = self._with_id(provider_id) or call
        elif _is_another(call, provider_id, name, piece):
            call = self._named_alike(provider_id, name) or self._open(number, provider_id, name)
        self._by_index[number] = call
        return call

    def _unnumbered(self, provider_id: str, name: str) -> JoinedCall:
        if provider_id:
            known = self._with_id(provider_id)
            return known or self._open(self._next_index(), provider_id, name)
        if name or not self._calls:
            return self._open(self._next_index(), provider_id, name)
        return self._calls[-1]

    def _renumbered(self, provider_id: str, name: str) -> JoinedCall | None:
        """The call a fragment with an index nobody had belongs to all the same: the one whose id
        it repeats, or the one that had been given another call's index when it was opened.
        """
        if name:
            return None
        if provider_id:
            return self._with_id(provider_id)
        last = self._calls[-1] if self._calls else None
        return last if last is not None and last.shares_index else None

    def _named_alike(self, provider_id: str, name: str) -> JoinedCall | None:
        """The call with this id that is still being told, though under another index."""
        known = self._with_id(provider_id)
        if known is None or name != known.name or arguments.is_whole(known.raw):
            return None
        return known

    def _with_id(self, provider_id: str) -> JoinedCall | None:
        """The last opened call with this id."""
        return next((call for call in reversed(self._calls) if call.id == provider_id), None)

    def _next_index(self) -> int:
        return max((call.index for call in self._calls), default=-1) + 1

    def _open(self, index: int, provider_id: str, name: str) -> JoinedCall:
        if len(self._calls) >= MAX_CALLS:
            raise TooManyCalls
        call = JoinedCall(index, provider_id, name)
        call.shares_index = any(other.index == index for other in self._calls)
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


def _number(index: Any) -> int | None:
    """An index however it is written; None for what is none."""
    if isinstance(index, str) and index.isdecimal() and len(index) < 10:
        return int(index)
    if isinstance(index, float) and index.is_integer():
        return int(index)
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _is_another(call: JoinedCall, provider_id: str, name: str, piece: str) -> bool:
    """Whether a fragment with a known index is of another call all the same.

    Some servers give every parallel call index 0 and a new id; some all calls the same id, or
    none; others give every fragment of one call a new id. Only a named fragment can begin another
    call. With a new id it does so under another name, or when the call so far is whole; without
    one only when both are whole and differ, since a server may also repeat itself.
    """
    if not name:
        return False
    if provider_id and call.id and provider_id != call.id:
        return name != call.name or not call.parts or arguments.is_whole(call.raw)
    said = call.raw
    return _is_told(said) and _is_told(piece) and said.strip() != piece.strip()


def _is_told(raw: str) -> bool:
    """Whether the text is a whole object with something in it, not a placeholder."""
    return raw.strip() not in ("", "{}") and arguments.is_whole(raw)

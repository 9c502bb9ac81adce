"""Tool call arguments from the text a model wrote. Pure.

Read strictly and never repaired, with two allowances that change no meaning: control characters
inside strings are taken as they are, and an empty placeholder object before the real one (some
servers open every call with `{}`) is dropped.
"""

import json
from typing import Any, NoReturn

from agents.gateway.events import CallRefusal, ModelToolCall
from audit import canonical
from audit.limits import limit
from audit.refusals import Refusal

MAX_ARGUMENTS_BYTES = limit(
    "model.call_arguments",
    1024 * 1024,
    "bytes",
    "Longest argument text of one tool call.",
)
_BLANK = " \t\r\n"


class _Unreadable(Exception):
    def __init__(self, refusal: CallRefusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


def call(provider_id: str, name: str, raw: str) -> ModelToolCall:
    """The call with its arguments read, or with the reason why it must not run."""
    try:
        if not name:
            raise _Unreadable(CallRefusal.NO_NAME)
        arguments = _read(raw)
    except _Unreadable as problem:
        return refused(provider_id, name, raw, problem.refusal)
    return ModelToolCall(provider_id, name, arguments, raw)


def refused(provider_id: str, name: str, raw: str, refusal: CallRefusal) -> ModelToolCall:
    """A call that must not run, whatever its text says."""
    return ModelToolCall(provider_id, name, None, raw, refusal)


def is_whole(raw: str) -> bool:
    """Whether the text is one readable object already."""
    try:
        _read(raw)
    except _Unreadable:
        return False
    return bool(raw.strip(_BLANK))


def _read(raw: str) -> dict[str, Any]:
    # A byte is at least as long as a character, so the cheap test comes first.
    if len(raw) > MAX_ARGUMENTS_BYTES or len(raw.encode(errors="replace")) > MAX_ARGUMENTS_BYTES:
        raise _Unreadable(CallRefusal.TOO_LARGE)
    text = raw.strip(_BLANK)
    if not text:
        return {}  # a tool without parameters, called without writing anything
    value, rest = _first(text)
    if rest and value == {}:
        value, rest = _first(rest)
    if rest:
        _first(rest)
        raise _Unreadable(CallRefusal.SEVERAL_OBJECTS)
    if not isinstance(value, dict):
        raise _Unreadable(CallRefusal.NOT_AN_OBJECT)
    return value


def _first(text: str) -> tuple[Any, str]:
    """The first JSON value and what follows it."""
    try:
        value, end = _decoder.raw_decode(text)
        canonical.check(value)
    except (ValueError, RecursionError, Refusal):
        raise _Unreadable(CallRefusal.NOT_JSON) from None
    return value, text[end:].lstrip(_BLANK)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("the same key twice")
    return made


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError("not JSON")


_decoder = json.JSONDecoder(
    strict=False, object_pairs_hook=_object, parse_constant=_refuse_constant
)

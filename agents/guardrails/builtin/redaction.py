"""No credential reaches a model or a person: the one list of shapes, on every text of a turn."""

from functools import lru_cache
from typing import Any, Final

from audit.credentials import Masking, masked, masked_value
from tools.boundary.redaction import kept_values

REMEMBERED: Final = 4_096  # texts of histories that were looked through already, per process

Messages = list[dict[str, Any]]


def for_model(messages: Messages) -> Messages:
    """The messages without credentials; those that hold none are the same objects."""
    known = kept_values()
    return [_clean(message, known) for message in messages]


def text(shown: str) -> str:
    """A text of a turn without credentials."""
    return _remembered(shown, kept_values())


def value(arguments: Any) -> Any:
    """A JSON value without credentials."""
    known = kept_values()
    return masked_value(arguments, lambda inner: masked(inner, known))


def masking() -> Masking:
    """Masks a text that comes in pieces."""
    return Masking(kept_values())


def _clean(message: dict[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, str):
        clean: Any = _remembered(content, known)
    elif content:
        clean = masked_value(content, lambda inner: masked(inner, known))
    else:
        return message
    return message if clean == content else {**message, "content": clean}


@lru_cache(maxsize=REMEMBERED)
def _remembered(content: str, known: tuple[str, ...]) -> str:
    """A text is looked through once, though it passes as an answer, at the end and as history."""
    return masked(content, known)

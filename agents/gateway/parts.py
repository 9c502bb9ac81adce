"""Text and thinking from content that comes as parts. Pure."""

from collections.abc import Iterator
from typing import Any

# Members of a part that may hold its words, and parts inside parts.
_WORDS = ("text", "thinking", "reasoning", "content", "summary")
_THINKING_KINDS = frozenset(
    {"thinking", "reasoning", "reasoning.text", "reasoning.summary", "redacted_thinking"}
)
_DEEPEST = 4


def pieces(content: Any) -> Iterator[tuple[str, bool]]:
    """Each part's words, and whether they are thinking, in order."""
    for part in content if isinstance(content, list) else [content]:
        kind = part.get("type") if isinstance(part, dict) else None
        said = text(part)
        if said:
            yield said, kind in _THINKING_KINDS


def text(value: Any, depth: int = 0) -> str:
    """The words of a text, a part, or a list of parts; empty where there are none."""
    if isinstance(value, str):
        return value
    if depth >= _DEEPEST:
        return ""
    if isinstance(value, list):
        return "".join(text(part, depth + 1) for part in value)
    if isinstance(value, dict):
        # The first member that says something: servers repeat the same words under several.
        return next(filter(None, (text(value.get(name), depth + 1) for name in _WORDS)), "")
    return ""

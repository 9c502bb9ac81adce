"""The one tool a member's words require: found in the message, owed until it was attempted. Pure.

Two forms bind: that a tool must be called, and that it is to be called exactly once. Mentions,
questions, conditions, negations, quotations and directives with several tools bind nothing.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final

from agents.engine.events import CallRequested, ToolSettled

BLOCKED: Final = "required_tool_blocked"

_CALLING = r"(?:call|use|run|invoke)"
_NAME = r"(?:the\s+)?(?:tool\s+)?[`'\"]?(?P<name>[a-z][a-z0-9_]*)[`'\"]?"
_DIRECTIVES: Final = (
    re.compile(rf"\b(?:must|have\s+to|are\s+required\s+to)\s+{_CALLING}\s+{_NAME}"),
    re.compile(rf"\b{_CALLING}\s+{_NAME}(?:\s+tool)?\s+exactly\s+once\b"),
)
_NEGATED: Final = re.compile(r"\b(?:not|never|cannot|without|avoid)\b|n['\u2019]t\b")
_CONDITIONAL: Final = re.compile(r"\b(?:if|unless|whether|when|whenever|should|would|could)\b")
_QUOTED: Final = re.compile(
    r"```.*?(?:```|\Z)|^\s*>[^\n]*|[\"\u201c][^\"\u201d\n]*\s[^\"\u201d\n]*[\"\u201d]",
    re.MULTILINE | re.DOTALL,
)
_SENTENCE: Final = re.compile(r"[^.!?;\n]+[.!?;\n]?")
_WORD: Final = re.compile(r"[a-z][a-z0-9_]*")


def bound(message: str, authorised: Collection[str]) -> str:
    """The authorised tool the message requires; empty when it requires none."""
    text = message.casefold()
    if not any(name in text for name in authorised):
        return ""
    required: set[str] = set()
    forbidden: set[str] = set()
    for sentence in _SENTENCE.findall(_QUOTED.sub(" ", text)):
        named = {word for word in _WORD.findall(sentence) if word in authorised or "_" in word}
        if _NEGATED.search(sentence):
            forbidden |= named
        elif _directs(sentence, named):
            required |= named
    if len(required) != 1 or required & forbidden or not required <= set(authorised):
        return ""
    return required.pop()


def _directs(sentence: str, named: set[str]) -> bool:
    if sentence.endswith("?") or _CONDITIONAL.search(sentence):
        return False
    return any(
        match["name"] in named
        for directive in _DIRECTIVES
        for match in directive.finditer(sentence)
    )


def passed_over(owed: str, calls: Sequence[CallRequested]) -> bool:
    """Whether a response does without the call that is owed."""
    return bool(owed) and all(call.name != owed for call in calls)


def still_owed(owed: str, results: Sequence[ToolSettled]) -> str:
    """The tool that is owed after a batch: any result of its own is an attempt."""
    return "" if any(result.tool == owed for result in results) else owed

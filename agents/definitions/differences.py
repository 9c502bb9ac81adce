"""What changed between two versions of a definition. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any, Final

MISSING: Final = None
CONTEXT_LINES: Final = 3


@dataclass(frozen=True)
class Change:
    """One field that differs. `lines` is a unified diff where both sides are text of lines."""

    field: str
    before: Any
    after: Any
    lines: list[str]


def between(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """The fields that differ, in order of their names; empty for equal definitions."""
    return [
        Change(
            field=name,
            before=before.get(name, MISSING),
            after=after.get(name, MISSING),
            lines=_lines(before.get(name), after.get(name)),
        )
        for name in sorted({*before, *after})
        if before.get(name, MISSING) != after.get(name, MISSING)
    ]


def _lines(before: Any, after: Any) -> list[str]:
    if not isinstance(before, str) or not isinstance(after, str):
        return []
    changed = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=CONTEXT_LINES)
    return list(changed)[2:]  # without the two lines that would name files

"""What changed between two versions of a definition, in time that grows with their length. Pure."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from artifacts import comparing
from artifacts.comparing import Op

MISSING: Final = None
# A diff says at most both texts; nothing of it is ever left out.
LONGEST: Final = 1_000_000
# A word, or the space between two, or one mark: joined again they are the text.
WORD: Final = re.compile(r"\w+|[^\S\n]+|\n|[^\w\s]")


@dataclass(frozen=True)
class Change:
    """One field that differs.

    Where both sides are text, `lines` is a unified diff of its lines and `words` the whole of both
    texts in stretches of words that were kept (`=`), went (`-`) or came (`+`).
    """

    field: str
    before: Any
    after: Any
    lines: list[str]
    words: list[tuple[Op, str]]


def between(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """The fields that differ, in order of their names; empty for equal definitions."""
    return [
        _change(name, before.get(name, MISSING), after.get(name, MISSING))
        for name in sorted({*before, *after})
        if before.get(name, MISSING) != after.get(name, MISSING)
    ]


def told(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The same as plain data, for answers."""
    return [
        {**asdict(change), "words": [list(stretch) for stretch in change.words]}
        for change in between(before, after)
    ]


def words(before: str, after: str) -> list[tuple[Op, str]]:
    """Both texts in stretches of words with `=`, `-` or `+`; what goes stands before what comes.

    The stretches kept and gone make the first text, those kept and new the second.
    """
    old, new = WORD.findall(before), WORD.findall(after)
    return [
        (
            run.op,
            "".join(
                new[run.new_first : run.new_last] if run.op == "+" else old[run.first : run.last]
            ),
        )
        for run in comparing.runs(old, new)
    ]


def _change(name: str, before: Any, after: Any) -> Change:
    if not isinstance(before, str) or not isinstance(after, str):
        return Change(name, before, after, [], [])
    return Change(name, before, after, _lines(before, after), words(before, after))


def _lines(before: str, after: str) -> list[str]:
    """A unified diff; whether the last line has an end is not worth a line, `words` tell it."""
    shown = comparing.unified(_ended(before), _ended(after), longest=LONGEST)
    return shown.split("\n") if shown else []


def _ended(text: str) -> str:
    return f"{text}\n" if text and not text.endswith("\n") else text

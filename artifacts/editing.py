"""Ranged edits: which lines a text has, and what hunks make of them. Pure.

Only LF ends a line, with the CR right before it where there is one. A CR alone, U+2028, U+0085,
form feeds and spaces at an end are content. A byte order mark belongs to the text, not to its first
line. Whatever no hunk names stays as it is, byte for byte.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from audit.limits import limit
from audit.reasons import Reason
from audit.refusals import FieldProblem, Invalid

HUNKS = limit("artifact.hunks", 32, "count", "Hunks one edit of an artifact may have.")
HUNK_LINES = limit(
    "artifact.hunk", 400, "lines", "Lines one hunk of an edit may give, and may replace."
)
MARK: Final = "\ufeff"  # a byte order mark
OPERATIONS: Final = ("PUT", "CUT")


@dataclass(frozen=True)
class Line:
    """One line and what ends it: LF, CR LF, or nothing where the text stops without one."""

    text: str
    end: str


@dataclass(frozen=True)
class Text:
    """A whole text as its mark and its lines; joined again it is the same bytes."""

    mark: str
    lines: tuple[Line, ...]

    @property
    def joined(self) -> str:
        """The text again."""
        return self.mark + "".join(line.text + line.end for line in self.lines)


@dataclass(frozen=True)
class Hunk:
    """One change of an edit. Lines count from 1 and name lines of the base version.

    PUT with `first` and `last` replaces these lines, both included; PUT with `after` (0 for the
    beginning) adds lines behind that one; CUT with `first` and `last` takes lines out.
    """

    op: Literal["PUT", "CUT"]
    first: int | None = None
    last: int | None = None
    after: int | None = None
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Place:
    """Where a hunk goes: `start` up to before `stop`, counted from 0; equal for an addition."""

    start: int
    stop: int
    hunk: Hunk
    position: int


def split(content: str) -> Text:
    """The lines of a text. A final line end starts no further line."""
    mark = MARK if content.startswith(MARK) else ""
    pieces = content[len(mark) :].split("\n")
    last = pieces.pop()
    lines = [
        Line(piece[:-1], "\r\n") if piece.endswith("\r") else Line(piece, "\n") for piece in pieces
    ]
    if last or not lines:
        lines.append(Line(last, ""))
    return Text(mark, tuple(lines))


def apply(content: str, hunks: Sequence[Hunk]) -> str:
    """The text with all hunks carried out against it as it was, in whatever order they come.

    Lines that are put take the ends of those they replace; added ones the end of their neighbour.
    A text that stops without a line end still does after its last line is replaced or added to.
    Raises `Invalid` for hunks that overlap, lie outside, are too many or too long, or are not what
    their operation takes; then nothing of the edit holds.
    """
    base = split(content)
    places = _places(hunks, len(base.lines))
    made: list[Line] = []
    position = 0
    for place in places:
        made += base.lines[position : place.start]
        made += _put(base.lines, place)
        position = place.stop
    made += base.lines[position:]
    return Text(base.mark, tuple(_closed(made, _usual_end(base.lines)))).joined


def _places(hunks: Sequence[Hunk], total: int) -> list[_Place]:
    """The hunks in the order of the text; raises `Invalid` naming every hunk that cannot stand."""
    if not hunks:
        raise Invalid([_fault("hunks", Reason.MISSING_FIELD)], "The edit has no hunks.")
    if len(hunks) > HUNKS:
        raise Invalid(
            [_fault("hunks", Reason.TOO_LONG)],
            f"The edit has {len(hunks)} hunks; {HUNKS} are allowed.",
        )
    faults = [fault for number, hunk in enumerate(hunks) for fault in _faults(number, hunk, total)]
    if faults:
        raise Invalid([fault for fault, _ in faults], " ".join(words for _, words in faults[:3]))
    places = [
        _Place(hunk.after, hunk.after, hunk, number)
        if hunk.after is not None
        else _Place((hunk.first or 1) - 1, hunk.last or 0, hunk, number)
        for number, hunk in enumerate(hunks)
    ]
    places.sort(key=lambda place: (place.start, place.stop))
    for one, other in pairwise(places):
        if other.start < one.stop or (one.start, one.stop) == (other.start, other.stop):
            raise Invalid(
                [_fault(f"hunks.{max(one.position, other.position)}", Reason.INVALID_FIELD)],
                f"Hunks {one.position + 1} and {other.position + 1} overlap at line"
                f" {other.start + 1}. Join them to one hunk.",
            )
    return places


def _faults(number: int, hunk: Hunk, total: int) -> list[tuple[FieldProblem, str]]:
    """What is wrong with one hunk by itself, each with a sentence."""
    path, name = f"hunks.{number}", f"Hunk {number + 1}"
    if hunk.op not in OPERATIONS:
        return [(_fault(f"{path}.op", Reason.INVALID_FIELD), f"{name} is neither PUT nor CUT.")]
    return [*_range_faults(path, name, hunk, total), *_line_faults(path, name, hunk)]


def _range_faults(path: str, name: str, hunk: Hunk, total: int) -> list[tuple[FieldProblem, str]]:
    first, last, after = hunk.first, hunk.last, hunk.after
    has = f"the base version has {total} line{'' if total == 1 else 's'}"
    if after is not None:
        if hunk.op == "CUT" or first is not None or last is not None:
            words = f"{name}: `after` is for a PUT that adds, without first and last."
            return [(_fault(f"{path}.after", Reason.INVALID_FIELD), words)]
        if not 0 <= after <= total:
            words = f"{name}: line {after} is outside, {has}."
            return [(_fault(f"{path}.after", Reason.INVALID_FIELD), words)]
        return []
    if first is None or last is None:
        missing = "first" if first is None else "last"
        words = f"{name} needs first and last" + (", or after." if hunk.op == "PUT" else ".")
        return [(_fault(f"{path}.{missing}", Reason.MISSING_FIELD), words)]
    if first > last:
        words = f"{name}: first ({first}) is behind last ({last})."
        return [(_fault(f"{path}.last", Reason.INVALID_FIELD), words)]
    if first < 1 or last > total:
        wrong = "first" if first < 1 or first > total else "last"
        words = f"{name}: lines {first} to {last} are outside, {has}."
        return [(_fault(f"{path}.{wrong}", Reason.INVALID_FIELD), words)]
    if last - first + 1 > HUNK_LINES:
        words = f"{name} reaches over {last - first + 1} lines; {HUNK_LINES} are allowed."
        return [(_fault(f"{path}.last", Reason.TOO_LONG), words)]
    return []


def _line_faults(path: str, name: str, hunk: Hunk) -> list[tuple[FieldProblem, str]]:
    where = f"{path}.lines"
    if hunk.op == "CUT":
        words = f"{name}: CUT takes lines out and gives none."
        return [(_fault(where, Reason.INVALID_FIELD), words)] if hunk.lines else []
    if not hunk.lines:
        words = f"{name}: PUT needs lines. To take lines out use CUT."
        return [(_fault(where, Reason.MISSING_FIELD), words)]
    if len(hunk.lines) > HUNK_LINES:
        words = f"{name} gives {len(hunk.lines)} lines; {HUNK_LINES} are allowed."
        return [(_fault(where, Reason.TOO_LONG), words)]
    words = f"{name}: every entry of lines is one line, without its line end."
    return [
        (_fault(f"{where}.{index}", Reason.INVALID_FIELD), words)
        for index, line in enumerate(hunk.lines)
        if "\n" in line or line.endswith("\r")
    ]


def _put(base: Sequence[Line], place: _Place) -> list[Line]:
    """The new lines of one hunk with their ends; the last one ends as the last that it replaces."""
    replaced = base[place.start : place.stop]
    lines = place.hunk.lines
    if not replaced:
        neighbour = base[max(place.start - 1, 0)]
        return [Line(line, neighbour.end) for line in lines]
    ends = [replaced[min(index, len(replaced) - 1)].end for index in range(len(lines))]
    ends[-1:] = [replaced[-1].end] * min(1, len(lines))
    return [Line(line, end) for line, end in zip(lines, ends, strict=True)]


def _closed(lines: Sequence[Line], usual: str) -> list[Line]:
    """Every line but the last has an end; one that stood last and no more does gets the usual."""
    return [
        line if line.end or index == len(lines) - 1 else Line(line.text, usual)
        for index, line in enumerate(lines)
    ]


def _usual_end(lines: Sequence[Line]) -> str:
    """The end of the last line that has one; LF in a text of a single open line."""
    return next((line.end for line in reversed(lines) if line.end), "\n")


def _fault(field: str, reason: Reason) -> FieldProblem:
    return {"field": field, "reason": str(reason)}

"""What differs between two texts, line by line, in time that grows with their length. Pure.

Common ends are set aside, lines that occur once in both texts anchor the rest, and what lies
between anchors is compared exactly while its share of the work lasts; beyond that it counts as
replaced. So a diff is always right, and for texts without resemblance merely coarser.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from audit.limits import limit

CONFLICT_DIFF = limit(
    "artifact.conflict_diff",
    20_000,
    "characters",
    "Length of the difference shown with an edit of an old version.",
)
CONTEXT_LINES: Final = 3
# Steps of exact comparison for each line of both texts, and for a whole comparison: half a second.
WORK_PER_LINE: Final = 20
WORK: Final = 400_000
CUT_SHORT: Final = "… the rest of the difference is left out"

Op = Literal["=", "-", "+"]


@dataclass(frozen=True)
class Run:
    """Lines that come together: kept, gone or new. Places count from 0, ends are not included."""

    op: Op
    first: int
    last: int
    new_first: int
    new_last: int


@dataclass
class _Work:
    """How many steps of exact comparison are left."""

    left: int


def lines_of(content: str) -> list[str]:
    """The lines with their ends, cut behind LF alone."""
    pieces = content.split("\n")
    return [f"{piece}\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def marked(before: str, after: str) -> list[tuple[Op, str]]:
    """Every line of both texts with `=`, `-` or `+`, without the LF it ends with.

    Lines that differ only in how they end differ.
    """
    old, new = lines_of(before), lines_of(after)
    return [
        (run.op, line.removesuffix("\n"))
        for run in runs(old, new)
        for line in _lines(run, old, new)
    ]


def unified(before: str, after: str, *, longest: int = CONFLICT_DIFF) -> str:
    """A unified diff of three lines around each change, cut after `longest` characters.

    A line without its end is followed by the usual remark. Empty for equal texts.
    """
    old, new = lines_of(before), lines_of(after)
    shown: list[str] = []
    room = longest
    for piece in _hunks(old, new):
        if len(piece) + 1 > room:
            shown.append(CUT_SHORT)
            break
        shown.append(piece)
        room -= len(piece) + 1
    return "\n".join(shown)


def runs(old: Sequence[str], new: Sequence[str]) -> list[Run]:
    """The way from one list of lines to the other; what goes stands before what comes."""
    work = _Work(min(WORK, WORK_PER_LINE * (len(old) + len(new) + 1)))
    found: list[Run] = []
    i = j = 0
    for start, other, length in [*_matches(old, new, work), (len(old), len(new), 0)]:
        if start > i:
            found.append(Run("-", i, start, j, j))
        if other > j:
            found.append(Run("+", start, start, j, other))
        i, j = start + length, other + length
        if length:
            found.append(Run("=", start, i, other, j))
    return found


def _matches(old: Sequence[str], new: Sequence[str], work: _Work) -> list[tuple[int, int, int]]:
    """Stretches of equal lines as (place in old, place in new, length), neighbours joined."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    found = [(head_at, head_at, 1) for head_at in range(head)]
    i, j = head, head
    ends = (len(old) - tail, len(new) - tail)
    for a, b in [*_anchors(old, new, head, ends), ends]:
        found += _between(old, new, (i, a), (j, b), work)
        if (a, b) != ends:
            found.append((a, b, 1))
        i, j = a + 1, b + 1
    found += [(ends[0] + offset, ends[1] + offset, 1) for offset in range(tail)]
    return _joined(found)


def _anchors(
    old: Sequence[str], new: Sequence[str], head: int, ends: tuple[int, int]
) -> list[tuple[int, int]]:
    """Lines that occur once in both middles, as many as keep their order."""
    once_old, once_new = Counter(old[head : ends[0]]), Counter(new[head : ends[1]])
    places = {line: j for j, line in enumerate(new[head : ends[1]], head) if once_new[line] == 1}
    pairs = [
        (i, places[line])
        for i, line in enumerate(old[head : ends[0]], head)
        if once_old[line] == 1 and line in places
    ]
    return _rising(pairs)


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence whose second numbers rise; the first ones do already."""
    tops: list[int] = []  # lowest second number that ends a sequence of each length
    ending: list[int] = []  # and which pair it is
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        depth = bisect_left(tops, j)
        tops[depth : depth + 1] = [j]
        ending[depth : depth + 1] = [index]
        before.append(ending[depth - 1] if depth else -1)
    chosen: list[tuple[int, int]] = []
    at = ending[-1] if ending else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = before[at]
    return chosen[::-1]


def _between(
    old: Sequence[str],
    new: Sequence[str],
    span: tuple[int, int],
    other: tuple[int, int],
    work: _Work,
) -> list[tuple[int, int, int]]:
    """Equal lines inside one gap, exactly where the work that is left allows it."""
    mine, theirs = old[span[0] : span[1]], new[other[0] : other[1]]
    if not mine or not theirs:
        return []
    head = _common(mine, theirs)
    tail = _common(mine[head:][::-1], theirs[head:][::-1])
    middle = _shortest(mine[head : len(mine) - tail], theirs[head : len(theirs) - tail], work)
    pairs = [(at, at) for at in range(head)]
    pairs += [(head + i, head + j) for i, j in middle]
    pairs += [(len(mine) - tail + at, len(theirs) - tail + at) for at in range(tail)]
    return [(span[0] + i, other[0] + j, 1) for i, j in pairs]


def _shortest(old: Sequence[str], new: Sequence[str], work: _Work) -> list[tuple[int, int]]:
    """Pairs of equal lines along a shortest way from one list to the other (Myers 1986).

    Nothing when the work runs out before the way is found.
    """
    furthest = {1: 0}
    history: list[dict[int, int]] = []  # the state before each distance
    for distance in range(len(old) + len(new) + 1):
        history.append(dict(furthest))
        for diagonal in range(-distance, distance + 1, 2):
            came = _from(furthest, diagonal, distance)
            i = furthest[came] + (1 if came < diagonal else 0)
            started, j = i, i - diagonal
            while i < len(old) and j < len(new) and old[i] == new[j]:
                i, j = i + 1, j + 1
            furthest[diagonal] = i
            work.left -= 2 + i - started
            if i >= len(old) and j >= len(new):
                return _traced(history, i, j)
        if work.left < 0:
            return []
    return []


def _traced(history: Sequence[dict[int, int]], i: int, j: int) -> list[tuple[int, int]]:
    """The equal pairs of the way found, walked back from its end."""
    pairs: list[tuple[int, int]] = []
    for distance in range(len(history) - 1, -1, -1):
        furthest = history[distance]
        came = _from(furthest, i - j, distance)
        before, above = furthest[came], furthest[came] - came
        while i > before and j > above:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        i, j = before, above
    return pairs[::-1]


def _from(furthest: dict[int, int], diagonal: int, distance: int) -> int:
    """The neighbouring diagonal from which a diagonal is entered."""
    down = diagonal == -distance or (
        diagonal != distance and furthest[diagonal - 1] < furthest[diagonal + 1]
    )
    return diagonal + 1 if down else diagonal - 1


def _joined(found: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    joined: list[tuple[int, int, int]] = []
    for i, j, length in found:
        if joined:
            start, other, before = joined[-1]
            if (start + before, other + before) == (i, j):
                joined[-1] = (start, other, before + length)
                continue
        joined.append((i, j, length))
    return joined


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    length = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        length += 1
    return length


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The lines of a unified diff."""
    for group in _grouped(runs(old, new)):
        first, last = group[0], group[-1]
        yield (f"@@ -{_span(first.first, last.last)} +{_span(first.new_first, last.new_last)} @@")
        for op, line in ((run.op, line) for run in group for line in _lines(run, old, new)):
            yield f"{' ' if op == '=' else op}{line.removesuffix(chr(10))}"
            if not line.endswith("\n"):
                yield "\\ No newline at end of file"


def _grouped(found: Sequence[Run]) -> Iterator[list[Run]]:
    """Changes with a little of what is kept around them; far apart ones in groups of their own."""
    group: list[Run] = []
    for index, run in enumerate(found):
        if run.op != "=":
            group.append(run)
            continue
        if index and index < len(found) - 1 and run.last - run.first <= 2 * CONTEXT_LINES:
            group.append(run)
            continue
        if group:
            yield [*group, _begin(run)]
        group = [_end(run)] if index < len(found) - 1 else []
    if group:
        yield group


def _begin(run: Run) -> Run:
    """What stands right behind a change."""
    length = min(CONTEXT_LINES, run.last - run.first)
    return replace(run, last=run.first + length, new_last=run.new_first + length)


def _end(run: Run) -> Run:
    """What stands right before a change."""
    length = min(CONTEXT_LINES, run.last - run.first)
    return replace(run, first=run.last - length, new_first=run.new_last - length)


def _span(first: int, last: int) -> str:
    """A range as unified diffs write it: an empty one names the line before it."""
    length = last - first
    return f"{first + 1 if length else first},{length}" if length != 1 else f"{first + 1}"


def _lines(run: Run, old: Sequence[str], new: Sequence[str]) -> Sequence[str]:
    return new[run.new_first : run.new_last] if run.op == "+" else old[run.first : run.last]

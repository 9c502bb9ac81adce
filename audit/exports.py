"""Audit rows as a file that leaves the house, and what such a file proves when it comes back.

An export carries every column of its rows, so each row can be hashed again, and a row can be tied
to the row before it wherever both are in the file. With the database at hand every row is also
compared with the one that stands in its place now.

What a filtered export cannot prove by itself: that no other row would have fitted the filters,
and that a row and everything after it in its chain were not rewritten together. The first shows
only in an export without filters (then every chain must be there from its first row to the head
the file names), the second only against the database or an anchor taken earlier.
"""

import csv
import hashlib
import io
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from audit import canonical, chains
from audit.limits import limit
from audit.models import AuditEvent
from audit.refusals import Refusal
from audit.verification import NO_CHAIN, Fault, Place

MAX_ROWS = limit("audit.export", 50_000, "count", "Audit rows in one export.")
MAX_LINE = limit("audit.export_line", 16_384, "bytes", "Size of one line of an audit export.")
FORMAT = "kaizen-audit-export-1"
COLUMNS = (
    "chain",
    "sequence",
    "at",
    "action",
    "actor",
    "outcome",
    "reason",
    "subject_kind",
    "subject_id",
    "run_id",
    "details",
    "previous_hash",
    "hash",
)
ROWS_AT_ONCE = 500


class BadExport(Exception):
    """A file that is no audit export, or a line of it that cannot be read; the text says which."""


@dataclass(frozen=True)
class Heading:
    """The first line: what was asked for, when, and where the chains ended at that moment."""

    at: datetime
    filters: dict[str, str]
    heads: tuple[Place, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the export claims to hold every row there was."""
        return not self.filters


@dataclass(frozen=True)
class Line:
    """One row of a file, and the number of its line."""

    number: int
    row: chains.Row
    previous_hash: str
    hash: str


@dataclass(frozen=True)
class _Read:
    """A file as it was read. Only JSON Lines have a heading and a last line, which counts and
    digests what stands before it.
    """

    heading: Heading | None
    rows: list[Line]
    closing_fits: bool


@dataclass(frozen=True)
class Broken:
    """One fault of an export. `line` is 0 where the file as a whole is at fault."""

    fault: Fault
    line: int
    chain: int
    sequence: int


@dataclass
class Checked:
    """What was looked at and what was found, in the order of the file."""

    rows: int = 0
    linked: int = 0  # rows whose predecessor is in the file too
    compared: int = 0  # rows that were looked up in the database
    whole: bool = False  # it holds every row there was
    broken: list[Broken] = field(default_factory=list)


def json_lines(heading: Heading, events: Iterable[AuditEvent]) -> str:
    """The export as JSON Lines: heading, rows, and a last line with their count and digest."""
    lines = [
        canonical.dump(
            {
                "format": FORMAT,
                "at": _text_of(heading.at),
                "filters": heading.filters,
                "heads": [list(place) for place in heading.heads],
            }
        )
    ]
    lines += [canonical.dump(_columns(event)) for event in events]
    closing = canonical.dump({"rows": len(lines) - 1, "digest": _digest(lines)})
    return "".join(f"{line}\n" for line in (*lines, closing))


def comma_separated(events: Iterable[AuditEvent]) -> str:
    """The rows as CSV for spreadsheets, details as JSON. Without heading and last line: a row
    taken away at the end of such a file does not show.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for event in events:
        values = _columns(event)
        values["details"] = canonical.dump(values["details"])
        writer.writerow([values[name] for name in COLUMNS])
    return out.getvalue()


def check(path: Path, *, compare: bool = True, using: str = "default") -> Checked:
    """Check the rows of a file against themselves, each other and, with `compare`, the database.

    Raises `BadExport` for a file that is none, `OSError` for no file.
    """
    with path.open(encoding="utf-8", newline="") as file:
        text = file.read()
    read = _read_csv(text) if text.startswith(COLUMNS[0]) else _read_json(text)
    checked = Checked(whole=read.heading is not None and read.heading.is_whole)
    before: dict[int, Line] = {}
    for batch in _batches(read.rows):
        stored = _stored(batch, using) if compare else {}
        for line in batch:
            checked.rows += 1
            fault = _fault(line, before.get(line.row.chain), checked)
            if compare:
                checked.compared += 1
                place = (line.row.chain, line.row.sequence)
                fault = fault or (None if stored.get(place) == line.hash else Fault.CHANGED)
            if fault is not None:
                _add(checked, fault, line)
            before[line.row.chain] = line
    if read.heading is not None and checked.whole:
        _check_ends(checked, read.heading, before)
    if not read.closing_fits:
        checked.broken.append(Broken(Fault.CHANGED, 0, NO_CHAIN, 0))
    return checked


def _fault(line: Line, before: Line | None, checked: Checked) -> Fault | None:
    """What is wrong with a row by itself or beside the one before it in the file."""
    row = line.row
    try:
        fits = chains.row_hash(line.previous_hash, row) == line.hash
    except Refusal:
        fits = False
    if not fits or not 0 <= row.chain < chains.CHAINS:
        return Fault.CHANGED
    first = Place(0, chains.first_hash(row.chain))
    sequence, hash_ = (before.row.sequence, before.hash) if before else first
    if row.sequence <= sequence:
        return Fault.ADDED
    if row.sequence == sequence + 1:
        checked.linked += 1
        return None if line.previous_hash == hash_ else Fault.UNLINKED
    return Fault.MISSING if checked.whole else None


def _check_ends(checked: Checked, heading: Heading, last: dict[int, Line]) -> None:
    for chain, head in enumerate(heading.heads):
        line = last.get(chain)
        if (line.row.sequence if line else 0) < head.sequence:
            checked.broken.append(Broken(Fault.MISSING, 0, chain, head.sequence))
        elif line is not None and line.hash != head.hash:
            checked.broken.append(Broken(Fault.HEAD, line.number, chain, line.row.sequence))


def _add(checked: Checked, fault: Fault, line: Line) -> None:
    checked.broken.append(Broken(fault, line.number, line.row.chain, line.row.sequence))


def _stored(batch: list[Line], using: str) -> dict[tuple[int, int], str]:
    ids = [chains.row_id(line.row.chain, line.row.sequence) for line in batch]
    inside = [id_ for id_ in ids if 0 <= id_ < 2**63]
    found = AuditEvent.objects.using(using).filter(id__in=inside)
    return {
        (chain, sequence): hash_
        for chain, sequence, hash_ in found.values_list("chain", "sequence", "hash")
    }


def _batches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    remaining = iter(lines)
    while batch := list(itertools.islice(remaining, ROWS_AT_ONCE)):
        yield batch


def _read_json(text: str) -> "_Read":
    lines = text.removesuffix("\n").split("\n")
    if len(lines) < 2:
        raise BadExport("The file is no audit export: it has no heading and no last line.")
    closing = _value(len(lines), lines[-1])
    fits = closing == {"rows": len(lines) - 2, "digest": _digest(lines[:-1])}
    rows = [_line(n, _value(n, each)) for n, each in enumerate(lines[1:-1], start=2)]
    return _Read(_heading(_value(1, lines[0])), rows, fits)


def _read_csv(text: str) -> "_Read":
    rows = csv.reader(io.StringIO(text, newline=""))
    if tuple(next(rows)) != COLUMNS:
        raise BadExport("Line 1 does not name the columns of an audit export.")
    lines = []
    for number, row in enumerate(rows, start=2):
        value: dict[str, Any] = dict(zip(COLUMNS, row, strict=False))
        if len(row) != len(COLUMNS):
            raise BadExport(f"Line {number} is no row of an audit export.")
        value["details"] = _value(number, value["details"])
        lines.append(_line(number, value))
    return _Read(None, lines, closing_fits=True)


def _value(number: int, text: str) -> Any:
    try:
        return canonical.parse(text.encode("utf-8", "surrogatepass"), limit_bytes=MAX_LINE)
    except Refusal as refusal:
        raise BadExport(f"Line {number} cannot be read: {refusal.message}") from None


def _heading(value: Any) -> Heading:
    try:
        if value["format"] != FORMAT:
            raise ValueError
        heads = tuple(Place(int(sequence), str(hash_)) for sequence, hash_ in value["heads"])
        filters = {str(name): str(chosen) for name, chosen in value["filters"].items()}
        if len(heads) != chains.CHAINS:
            raise ValueError
        return Heading(datetime.fromisoformat(value["at"]), filters, heads)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BadExport("Line 1 is no heading of an audit export.") from None


def _line(number: int, value: Any) -> Line:
    try:
        row = chains.Row(
            chain=int(value["chain"]),
            sequence=int(value["sequence"]),
            at=datetime.fromisoformat(value["at"]),
            run_id=UUID(value["run_id"]) if value["run_id"] else None,
            details=value["details"],
            **{name: str(value[name]) for name in COLUMNS[3:9]},
        )
        return Line(number, row, str(value["previous_hash"]), str(value["hash"]))
    except (KeyError, TypeError, ValueError):
        raise BadExport(f"Line {number} is no row of an audit export.") from None


def _columns(event: AuditEvent) -> dict[str, Any]:
    values: dict[str, Any] = {name: getattr(event, name) for name in COLUMNS}
    values["at"] = _text_of(event.at)
    values["run_id"] = str(event.run_id or "")
    return values


def _digest(lines: Iterable[str]) -> str:
    whole = hashlib.sha256()
    for line in lines:
        whole.update(f"{line}\n".encode())
    return f"sha256:{whole.hexdigest()}"


def _text_of(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")

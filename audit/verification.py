"""Proof that the audit is whole: every row as it was written, in its place, none missing, none
added.

Reads only. What the rows themselves cannot show (a tail cut off together with its head, a chain
rewritten from end to end) shows in anchors taken before, best in those from outside the database.
"""

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum, auto
from typing import NamedTuple

from django.db import connections, transaction

from audit import anchors, chains
from audit.chains import CHAINS
from audit.models import AuditEvent, ChainHead
from audit.refusals import Refusal

MAX_FINDINGS = 1_000  # enough to see the extent; a truncated table would repeat itself for ever
ROWS_PER_READ = 2_000
ANCHORS_PER_READ = 200
NO_CHAIN = -1


class Fault(StrEnum):
    """What kind of tampering a finding shows."""

    # The row does not hash to what it says: something in it was changed.
    CHANGED = auto()
    # Numbers are missing before this row, or rows are missing before the head.
    MISSING = auto()
    # The row does not hang on the row before it: rows were exchanged or put in between.
    UNLINKED = auto()
    # The row lies beyond the head of its chain, or in no chain.
    ADDED = auto()
    # The head is gone or does not name the last row.
    HEAD = auto()
    # An anchor names a place that is gone or has another hash now.
    ANCHOR = auto()


class Place(NamedTuple):
    """A place in a chain and the hash of the row in it."""

    sequence: int
    hash: str


@dataclass(frozen=True)
class Finding:
    """One fault, at one place of one chain. `chain` is `NO_CHAIN` where the row belongs to none."""

    fault: Fault
    chain: int
    sequence: int


@dataclass
class Report:
    """What was checked and what was found; `findings` stops growing at `MAX_FINDINGS`."""

    rows: int = 0
    anchors: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        return not self.findings

    def add(self, fault: Fault, chain: int, sequence: int) -> None:
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(Finding(fault, chain, sequence))


def verify(*, outside: Iterable[anchors.Heads] = (), using: str = "default") -> Report:
    """Check all rows against their chains, the heads, the stored anchors and the anchors from
    `outside`.

    Time grows with the number of rows (tens of thousands a second), memory does not. Rows written
    meanwhile do not disturb: everything is read from one snapshot.
    """
    report = Report()
    with one_snapshot(using):
        heads = {
            head.chain: Place(head.sequence, head.hash)
            for head in ChainHead.objects.using(using).all()
        }
        _check_heads(report, heads, reached=_check_rows(report, heads, using))
        _check_anchors(report, itertools.chain(anchors.stored(using=using), outside), using)
    return report


def _check_rows(report: Report, heads: dict[int, Place], using: str) -> dict[int, Place]:
    """Walk every chain from its first row; returns the last place of each."""
    reached = {chain: Place(0, chains.first_hash(chain)) for chain in range(CHAINS)}
    events = AuditEvent.objects.using(using).order_by("chain", "sequence", "id")
    for event in events.iterator(chunk_size=ROWS_PER_READ):
        report.rows += 1
        before = reached.get(event.chain)
        if before is None:
            report.add(Fault.ADDED, NO_CHAIN, event.sequence)
            continue
        if event.sequence != before.sequence + 1:
            report.add(Fault.MISSING, event.chain, event.sequence)
        elif event.previous_hash != before.hash:
            report.add(Fault.UNLINKED, event.chain, event.sequence)
        if not _says_what_it_hashes(event):
            report.add(Fault.CHANGED, event.chain, event.sequence)
        head = heads.get(event.chain)
        if head is not None and event.sequence > head.sequence:
            report.add(Fault.ADDED, event.chain, event.sequence)
        reached[event.chain] = Place(event.sequence, event.hash)
    return reached


def _check_heads(report: Report, heads: dict[int, Place], *, reached: dict[int, Place]) -> None:
    """Every head must name the last row of its chain."""
    for chain in sorted(heads.keys() | reached.keys()):
        head, last = heads.get(chain), reached.get(chain)
        if head is not None and last is not None and head.sequence > last.sequence:
            report.add(Fault.MISSING, chain, head.sequence)
        elif head != last:
            report.add(Fault.HEAD, chain, (last or head or Place(0, "")).sequence)


def _check_anchors(report: Report, taken: Iterable[anchors.Heads | None], using: str) -> None:
    """Every place an anchor names must still hold the row with that hash."""
    remaining = iter(taken)
    while batch := list(itertools.islice(remaining, ANCHORS_PER_READ)):
        report.anchors += len(batch)
        wanted: set[tuple[int, int, str]] = set()
        for anchor in batch:
            if anchor is None:
                report.add(Fault.ANCHOR, NO_CHAIN, 0)
                continue
            wanted.update(
                (chain, sequence, hash_)
                for chain, (sequence, hash_) in enumerate(anchor.places)
                if sequence > 0
            )
        ids = {chains.row_id(chain, sequence) for chain, sequence, _ in wanted}
        found = AuditEvent.objects.using(using).filter(id__in=ids)
        there = set(found.values_list("chain", "sequence", "hash"))
        for chain, sequence, _ in sorted(wanted - there):
            report.add(Fault.ANCHOR, chain, sequence)


def _says_what_it_hashes(event: AuditEvent) -> bool:
    row = chains.Row(
        chain=event.chain,
        sequence=event.sequence,
        at=event.at,
        action=event.action,
        actor=event.actor,
        outcome=event.outcome,
        reason=event.reason,
        subject_kind=event.subject_kind,
        subject_id=event.subject_id,
        run_id=event.run_id,
        details=event.details,
    )
    try:
        expected = chains.row_hash(event.previous_hash, row)
    except Refusal:  # details that the funnel could never have written
        return False
    return event.hash == expected and event.id == chains.row_id(row.chain, row.sequence)


@contextmanager
def one_snapshot(using: str) -> Iterator[None]:
    """A read-only repeatable-read transaction, or the caller's own where one is open."""
    if connections[using].in_atomic_block:
        yield
        return
    with transaction.atomic(using=using):
        with connections[using].cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield

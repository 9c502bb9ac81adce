"""The one way into the audit: `record` writes a row in the caller's transaction, or the
transaction fails.

Whoever performs an action calls this as the last statement of the action's transaction: a row
locks the head of its chain until the commit, so everything else should be locked before it.
Within one transaction all rows go to one chain, so two transactions can never wait for each
other's chains.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connections, transaction

from audit import canonical, chains, metrics
from audit import details as detail_rules
from audit.reasons import Action, Outcome, Reason

ANONYMOUS = "anonymous"
OVERFLOW = "overflow"  # stands for whatever may not be written, where raising would stop production
MAX_SUBJECT_ID = 80  # characters, the width of the column

_ACTOR = re.compile(r"(member|agent|task|worker|system|bundle):[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_KIND = re.compile(r"[a-z][a-z_]{0,39}")

# Locks the chain this transaction writes to: the one it took first, else the preferred one.
TAKE_HEAD = """
SELECT chain, sequence, hash, clock_timestamp(), set_config('kaizen.audit_chain', chain::text, true)
  FROM audit_chain_head
 WHERE chain = COALESCE(NULLIF(current_setting('kaizen.audit_chain', true), '')::int, %s)
   FOR UPDATE
"""
WRITE = """
WITH moved AS (UPDATE audit_chain_head SET sequence = %s, hash = %s WHERE chain = %s)
INSERT INTO audit_event (id, previous_hash, hash, chain, sequence, at, action, actor, outcome,
                         reason, subject_kind, subject_id, run_id, details)
VALUES {rows}
"""
ONE_ROW = f"({', '.join(['%s'] * 13)}, %s::jsonb)"


class Unrecordable(ValueError):
    """A code outside the closed vocabularies, or an actor or subject of the wrong form."""


@dataclass(frozen=True)
class Record:
    """One row to be written. `subject` is (kind, id)."""

    action: Action
    actor: str
    outcome: Outcome | str
    reason: Reason | None = None
    subject: tuple[str, str] | None = None
    run_id: UUID | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def record(
    *,
    action: Action,
    actor: str,
    outcome: Outcome | str,
    reason: Reason | None = None,
    subject: tuple[str, str] | None = None,
    run_id: UUID | None = None,
    details: Mapping[str, Any] | None = None,
    using: str = "default",
) -> None:
    """Write one audit row in the caller's transaction (or in one of its own where none is open).

    `actor` is `member:<id>`, `agent:<id>`, `task:<id>`, `worker:<name>`, `system:<name>`,
    `bundle:<slug>` or `anonymous`; `subject` is (kind, id). Where `settings.AUDIT_STRICT` is
    true, a code outside the vocabularies raises `UnknownCode` and an unfit detail
    `audit.details.Unfit`; otherwise the row says `overflow` and the detail is dropped. When the
    row cannot be written, `django.db.Error` is raised and the whole transaction is marked to roll
    back, so nothing happens unrecorded.
    """
    record_all(
        [Record(action, actor, outcome, reason, subject, run_id, details or {})], using=using
    )


def record_all(records: Sequence[Record], *, using: str = "default") -> None:
    """Write several rows at the price of one; otherwise as `record`."""
    if not records:
        return
    # Without a savepoint an error here dooms the caller's whole transaction, even if it is
    # swallowed.
    with transaction.atomic(using=using, savepoint=False), connections[using].cursor() as cursor:
        clean = [_clean(one) for one in records]
        cursor.execute(TAKE_HEAD, [chains.chain_of(clean[0].actor, clean[0].run_id)])
        head = cursor.fetchone()
        if head is None:
            raise chains.HeadMissing("an audit chain has no head")
        chain, sequence, previous_hash, at, _ = head
        values: list[Any] = []
        for one in clean:
            sequence += 1
            row = _row(one, chain=chain, sequence=sequence, at=at)
            row_hash = chains.row_hash(previous_hash, row)
            values += _values(row, previous_hash, row_hash)
            previous_hash = row_hash
        statement = WRITE.format(rows=", ".join([ONE_ROW] * len(clean)))
        cursor.execute(statement, [sequence, previous_hash, chain, *values])
        transaction.on_commit(partial(_count, clean), using=using)


def _row(one: Record, *, chain: int, sequence: int, at: datetime) -> chains.Row:
    kind, subject_id = one.subject or ("", "")
    return chains.Row(
        chain=chain,
        sequence=sequence,
        at=at,
        action=one.action,
        actor=one.actor,
        outcome=one.outcome,
        reason=one.reason or "",
        subject_kind=kind,
        subject_id=subject_id,
        run_id=one.run_id,
        details=one.details,
    )


def _values(row: chains.Row, previous_hash: str, row_hash: str) -> list[Any]:
    return [
        chains.row_id(row.chain, row.sequence),
        previous_hash,
        row_hash,
        row.chain,
        row.sequence,
        row.at,
        str(row.action),
        row.actor,
        str(row.outcome),
        str(row.reason),
        row.subject_kind,
        row.subject_id,
        row.run_id,
        canonical.dump(row.details),
    ]


def _clean(one: Record) -> Record:
    """The record as it may be written; raises in strict mode for what may not."""
    strict = bool(settings.AUDIT_STRICT)
    if strict:
        detail_rules.check(one.details)
    return Record(
        action=_closed(Action, one.action, strict),
        actor=_shaped(
            one.actor, one.actor == ANONYMOUS or bool(_ACTOR.fullmatch(one.actor)), strict
        ),
        outcome=_closed(Outcome, one.outcome, strict),
        reason=None if one.reason is None else _closed(Reason, one.reason, strict),
        subject=one.subject and _subject(one.subject, strict),
        run_id=one.run_id,
        details=dict(one.details) if strict else detail_rules.fit(one.details),
    )


def _closed(vocabulary: type[StrEnum], code: str, strict: bool) -> Any:
    """The member for `code`. `Any`, because production writes a plain `overflow` for an unknown
    one.
    """
    try:
        return vocabulary(code)
    except ValueError:
        if strict:
            raise Unrecordable(f"{code!r:.60} is not in {vocabulary.__name__}") from None
        return OVERFLOW


def _subject(subject: tuple[str, str], strict: bool) -> tuple[str, str]:
    kind, subject_id = subject
    fits = len(subject_id) <= MAX_SUBJECT_ID and detail_rules.is_code(subject_id)
    return (
        _shaped(kind, bool(_KIND.fullmatch(kind)), strict),
        _shaped(subject_id, fits, strict),
    )


def _shaped(text: str, fits: bool, strict: bool) -> str:
    if fits:
        return text
    if strict:
        raise Unrecordable("an actor or subject is not a kind with an id")
    return OVERFLOW


def _count(records: Sequence[Record]) -> None:
    for one in records:
        metrics.audit_event(one.action)

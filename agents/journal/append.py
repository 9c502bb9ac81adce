"""The only writer of the journal."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction

from agents.journal import publication
from agents.journal.frames import Kind
from agents.journal.models import Entry
from tools.effects import claims
from tools.effects.claims import Claim

HELD: Final = f"held AS ({claims.PROOF}),"


@dataclass(frozen=True)
class Draft:
    """An entry before it has a position."""

    kind: Kind
    data: dict[str, Any]
    private: dict[str, Any] | None = None


def open_stream(stream_id: UUID) -> None:
    """Start an empty stream, in the caller's transaction."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO journal_stream (id, head) VALUES (%s, 0)", [stream_id])


def append(
    stream_id: UUID,
    drafts: Sequence[Draft],
    *,
    run_id: UUID | None = None,
    input_id: UUID | None = None,
    claim: Claim | None = None,
) -> list[Entry]:
    """Append entries in order and announce them after commit.

    One statement, in the caller's transaction if there is one. With a claim it proves the fence:
    `LeaseLost` means that nothing was written. Raises `LookupError` for an unknown stream.
    """
    if claim is not None:
        run_id = claim.run_id
    stamps = _write(stream_id, drafts, run_id, input_id, claim)
    if not stamps:
        if claim is not None:
            claims.prove(claim.run_id, claim.fence)
        raise LookupError(f"no stream {stream_id}")
    entries = [
        Entry(
            id=entry_id,
            stream_id=stream_id,
            position=position,
            run_id=run_id,
            input_id=input_id,
            kind=str(draft.kind),
            data=draft.data,
            private=draft.private,
            at=at,
        )
        for draft, (entry_id, position, at) in zip(drafts, stamps, strict=True)
    ]
    transaction.on_commit(lambda: publication.announce(stream_id, entries), robust=True)
    return entries


def _write(
    stream_id: UUID,
    drafts: Sequence[Draft],
    run_id: UUID | None,
    input_id: UUID | None,
    claim: Claim | None,
) -> list[Any]:
    """Prove, move the head and insert at the positions it passed: id, position and time of each."""
    held, fences = ("", []) if claim is None else (HELD, [claim.run_id, claim.fence])
    values: list[Any] = [*fences, len(drafts), stream_id]
    for offset, draft in enumerate(drafts, start=1):
        private = None if draft.private is None else json.dumps(draft.private)
        values += [offset, str(draft.kind), json.dumps(draft.data), private]
    values += [len(drafts), run_id, input_id]
    slots = ", ".join(["(%s::int, %s, %s::jsonb, %s::jsonb)"] * len(drafts))
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            WITH {held} moved AS (
                UPDATE journal_stream SET head = head + %s {"FROM held" if claim else ""}
                 WHERE id = %s RETURNING id, head),
            draft (number, kind, data, private) AS (VALUES {slots})
            INSERT INTO journal_entry
                   (stream_id, position, run_id, input_id, kind, data, private)
            SELECT moved.id, moved.head - %s + draft.number, %s::uuid, %s::uuid,
                   draft.kind, draft.data, draft.private
              FROM moved, draft ORDER BY draft.number
            RETURNING id, position, at
            """,
            values,
        )
        return sorted(cursor.fetchall(), key=lambda stamp: int(stamp[1]))

"""The only writer of the journal."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from agents.journal import publication
from agents.journal.frames import Kind
from agents.journal.models import Entry
from tools.effects import claims
from tools.effects.claims import Claim


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

    One transaction, joined to the caller's if there is one. With a claim its fence is proved
    first: `LeaseLost` means that nothing was written. Raises `Stream.DoesNotExist`-like
    `LookupError` for an unknown stream.
    """
    with transaction.atomic():
        if claim is not None:
            claims.prove(claim.run_id, claim.fence)
            run_id = claim.run_id
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE journal_stream SET head = head + %s WHERE id = %s RETURNING head",
                [len(drafts), stream_id],
            )
            row = cursor.fetchone()
            if row is None:
                raise LookupError(f"no stream {stream_id}")
            first = row[0] - len(drafts) + 1
            values: list[Any] = []
            for offset, draft in enumerate(drafts):
                values += [
                    stream_id,
                    first + offset,
                    run_id,
                    input_id,
                    str(draft.kind),
                    json.dumps(draft.data),
                    None if draft.private is None else json.dumps(draft.private),
                ]
            slots = ", ".join(["(%s, %s, %s, %s, %s, %s::jsonb, %s::jsonb)"] * len(drafts))
            cursor.execute(
                "INSERT INTO journal_entry"
                " (stream_id, position, run_id, input_id, kind, data, private)"
                f" VALUES {slots} RETURNING id, at",
                values,
            )
            stamps = cursor.fetchall()
        entries = [
            Entry(
                id=stamp[0],
                stream_id=stream_id,
                position=first + offset,
                run_id=run_id,
                input_id=input_id,
                kind=str(draft.kind),
                data=draft.data,
                private=draft.private,
                at=stamp[1],
            )
            for offset, (draft, stamp) in enumerate(zip(drafts, stamps, strict=True))
        ]
        transaction.on_commit(lambda: publication.announce(stream_id, entries), robust=True)
    return entries

"""Reading a stream from a position. The primary database only: a replica may be behind."""

from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from django.db import connection

from agents.journal.models import Entry, Stream

PAGE_ENTRIES = 500  # one replay page; a reader asks again from the last position
END: Final = 2**63 - 1  # above every position


class Shown(NamedTuple):
    """What people see of an entry, without the cost of a model instance: pages hold hundreds."""

    position: int
    run_id: UUID | None
    input_id: UUID | None
    kind: str
    data: Any
    at: datetime


SHOWN: Final = (
    "SELECT position, run_id, input_id, kind, data::text, at FROM journal_entry"
    " WHERE stream_id = %s AND position"
)


def after(stream_id: UUID, position: int, *, limit: int = PAGE_ENTRIES) -> list[Shown]:
    """Up to `limit` entries with a higher position, in order."""
    return _shown(f"{SHOWN} > %s ORDER BY position LIMIT %s", stream_id, position, limit)


def before(stream_id: UUID, position: int, *, limit: int = PAGE_ENTRIES) -> list[Shown]:
    """Up to `limit` entries with a lower position, in order: the page above."""
    rows = _shown(f"{SHOWN} < %s ORDER BY position DESC LIMIT %s", stream_id, position, limit)
    rows.reverse()
    return rows


def head(stream_id: UUID) -> int:
    """The newest position, 0 for an empty stream; raises `Stream.DoesNotExist`."""
    return Stream.objects.values_list("head", flat=True).get(id=stream_id)


def heads(stream_ids: list[UUID]) -> dict[UUID, int]:
    """The newest positions of several streams in one query."""
    return dict(Stream.objects.filter(id__in=stream_ids).values_list("id", "head"))


def of_run(run_id: UUID) -> list[Entry]:
    """All entries of one run in order, private parts included: what recovery rebuilds from."""
    return list(Entry.objects.filter(run_id=run_id).order_by("position"))


class Row(NamedTuple):
    """What a transcript needs of an entry, private part included."""

    position: int
    run_id: UUID
    input_id: UUID | None
    kind: str
    data: Any
    private: Any


def for_model(stream_id: UUID, position: int, kinds: list[str]) -> list[Row]:
    """Entries of some kinds after a position, without the cost of model instances: this read is
    on the way to the first token.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT position, run_id, input_id, kind, data::text, private::text FROM journal_entry"
            " WHERE stream_id = %s AND position > %s AND kind = ANY(%s) ORDER BY position",
            [stream_id, position, kinds],
        )
        return [
            Row(at, run_id, input_id, kind, orjson.loads(data), private and orjson.loads(private))
            for at, run_id, input_id, kind, data, private in cursor.fetchall()
        ]


def _shown(sql: str, stream_id: UUID, position: int, limit: int) -> list[Shown]:
    with connection.cursor() as cursor:
        cursor.execute(sql, [stream_id, position, limit])
        return [
            Shown(at, run_id, input_id, kind, orjson.loads(data), when)
            for at, run_id, input_id, kind, data, when in cursor.fetchall()
        ]

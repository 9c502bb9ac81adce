"""How fast the journal takes entries that prove their fence, beside a bare loop of inserts."""

import time
from statistics import median
from typing import Final
from uuid import UUID, uuid4

import orjson
from django.db import connection, connections

from agents.conversations import inputs
from agents.journal.append import Draft, append
from agents.journal.frames import Kind
from agents.journal.offloading import in_database
from agents.members.models import Member
from tests.bench.measures import Figure, Ground
from tools.effects import claims
from tools.effects.claims import Claim

APPENDS: Final = 500
APPEND_CONVERSATIONS: Final = 50
APPEND_ROUNDS: Final = 5
MESSAGE: Final = {"message": "x" * 100}
INSERT: Final = (
    "INSERT INTO bench_bare (stream_id, position, kind, data) VALUES (%s, %s, %s, %s::jsonb)"
)


async def appends(ground: Ground) -> list[Figure]:
    """Entries of 50 conversations, each proving its fence, beside a bare loop of inserts."""
    rates: dict[str, list[float]] = {"ours": [], "bare": []}
    await in_database(_create_table)
    held = await in_database(_hold_runs, ground.people[0].member)
    for _ in range(APPEND_ROUNDS):
        rates["bare"].append(await in_database(_insert_bare))
        rates["ours"].append(await in_database(_append_held, held))
    ours, bare = median(rates["ours"]), median(rates["bare"])
    return [
        Figure(
            "journal appends with proof",
            f"{ours:,.0f}/s",
            f"{bare:,.0f}/s bare INSERT",
            f"{ours / bare:.2f} x",
            ">= 0.5 x",
            ours >= 0.5 * bare,
        )
    ]


def _hold_runs(member: Member) -> list[tuple[UUID, Claim]]:
    held = []
    for _ in range(APPEND_CONVERSATIONS):
        stream_id, run_id = inputs.open_conversation(member=member).id, uuid4()
        claims.enqueue(run_id, lane=stream_id, ordinal=1, queue="bench")
        held.append((stream_id, claims.claim("bench", limit=1, lease_s=600, queue="bench")[0]))
    return held


def _create_table() -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "CREATE TABLE bench_bare (id bigserial PRIMARY KEY, stream_id uuid, position bigint,"
            " kind text, data jsonb, UNIQUE (stream_id, position));"
            " GRANT INSERT ON bench_bare TO PUBLIC;"
            " GRANT USAGE ON SEQUENCE bench_bare_id_seq TO PUBLIC"
        )


def _append_held(held: list[tuple[UUID, Claim]]) -> float:
    """Entries a second."""
    started = time.perf_counter()
    for number in range(APPENDS):
        stream_id, claim = held[number % len(held)]
        append(stream_id, [Draft(Kind.NOTICE, MESSAGE)], claim=claim)
    return APPENDS / (time.perf_counter() - started)


def _insert_bare() -> float:
    """Rows a second, into a table as wide as an entry."""
    stream_id = uuid4()
    data = orjson.dumps(MESSAGE).decode()
    with connection.cursor() as cursor:
        started = time.perf_counter()
        for number in range(APPENDS):
            cursor.execute(INSERT, [stream_id, number, "notice", data])
        return APPENDS / (time.perf_counter() - started)

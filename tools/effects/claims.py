"""Claim, prove, renew, park and settle runs. Only the database clock decides about leases."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from django.db import connection

from audit.limits import limit

MAX_ATTEMPTS = limit(
    "run.attempts",
    3,
    "count",
    "How often a run whose worker died is tried before it counts as failed.",
)

# Locks the claim of a run (id, fence) that its owner still holds; no row when it is lost. For
# statements that prove and write at once.
PROOF: Final = (
    "SELECT run_id, stop_requested_at IS NOT NULL FROM effects_runclaim"
    " WHERE run_id = %s AND fence = %s AND state = 'running' FOR UPDATE"
)


class LeaseLost(Exception):
    """The caller no longer owns the run: another worker holds a newer fence, or it is settled."""


@dataclass(frozen=True)
class Claim:
    """Proof of ownership: `fence` must accompany every write of the run."""

    run_id: UUID
    fence: int
    attempts: int
    stop_requested: bool = field(default=False, compare=False)

    @property
    def is_first(self) -> bool:
        """Whether nobody has held the run before."""
        return self.fence == 1


@dataclass(frozen=True)
class Renewal:
    """What a renewal found: whether a stop has been asked for since."""

    run_id: UUID
    stop_requested: bool


def enqueue(run_id: UUID, *, lane: UUID, ordinal: int, queue: str = "turns") -> None:
    """Make a run claimable, in the caller's transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO effects_runclaim (run_id, queue, lane, ordinal, state, fence, owner,"
            " attempts) VALUES (%s, %s, %s, %s, 'queued', 0, '', 0)",
            [run_id, queue, lane, ordinal],
        )


def claim(owner: str, *, limit: int, lease_s: float, queue: str = "turns") -> list[Claim]:
    """Take up to `limit` runs that nobody holds, oldest first, each with its fence raised.

    A run is left alone while an earlier run of its lane is open.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH due AS (
                SELECT run_id FROM effects_runclaim AS candidate
                 WHERE queue = %(queue)s AND state IN ('queued', 'running')
                   AND (lease_until IS NULL OR lease_until < clock_timestamp())
                   AND NOT EXISTS (
                       SELECT 1 FROM effects_runclaim AS earlier
                        WHERE earlier.lane = candidate.lane AND earlier.settled_at IS NULL
                          AND earlier.ordinal < candidate.ordinal)
                 ORDER BY created_at
                 LIMIT %(limit)s
                   FOR UPDATE SKIP LOCKED)
            UPDATE effects_runclaim AS mine
               SET fence = fence + 1, attempts = attempts + 1, owner = %(owner)s,
                   state = 'running',
                   lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
              FROM due WHERE mine.run_id = due.run_id
            RETURNING mine.run_id, mine.fence, mine.attempts,
                      mine.stop_requested_at IS NOT NULL
            """,
            {"queue": queue, "limit": limit, "owner": owner, "lease": lease_s},
        )
        return [Claim(*row) for row in cursor.fetchall()]


def prove(run_id: UUID, fence: int) -> bool:
    """Lock the claim for the caller's transaction; answers whether the run was asked to stop.

    Raises `LeaseLost` when the fence is old.
    """
    with connection.cursor() as cursor:
        cursor.execute(PROOF, [run_id, fence])
        row = cursor.fetchone()
    if row is None:
        raise LeaseLost(str(run_id))
    return bool(row[1])


def renew(claims: Sequence[Claim], *, lease_s: float) -> list[Renewal]:
    """Extend the leases still held; a claim missing from the answer has been lost."""
    if not claims:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE effects_runclaim AS mine
               SET lease_until = clock_timestamp() + make_interval(secs => %s)
              FROM unnest(%s::uuid[], %s::bigint[]) AS held(run_id, fence)
             WHERE mine.run_id = held.run_id AND mine.fence = held.fence
               AND mine.state = 'running'
            RETURNING mine.run_id, mine.stop_requested_at IS NOT NULL
            """,
            [lease_s, [held.run_id for held in claims], [held.fence for held in claims]],
        )
        return [Renewal(*row) for row in cursor.fetchall()]


def release(run_id: UUID, fence: int) -> None:
    """Give the run back unfinished, for another worker to take at once."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE effects_runclaim SET state = 'queued', lease_until = NULL, owner = '',"
            " attempts = attempts - 1 WHERE run_id = %s AND fence = %s AND state = 'running'",
            [run_id, fence],
        )


def settle(run_id: UUID, fence: int) -> None:
    """Close the run for good, in the transaction that writes its terminal."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE effects_runclaim SET state = 'settled', settled_at = clock_timestamp(),"
            " lease_until = NULL WHERE run_id = %s AND fence = %s AND settled_at IS NULL",
            [run_id, fence],
        )
        if cursor.rowcount != 1:
            raise LeaseLost(str(run_id))


def park(run_id: UUID, fence: int) -> bool:
    """Give the run up until `wake`; the attempt that ends here does not count.

    False when a stop has been asked for meanwhile: then the run is left to be claimed at once, so
    that it ends instead of waiting. Raises `LeaseLost` when the fence is old.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE effects_runclaim
               SET state = CASE WHEN stop_requested_at IS NULL THEN 'waiting' ELSE 'queued' END,
                   lease_until = NULL, owner = '', attempts = attempts - 1
             WHERE run_id = %s AND fence = %s AND state = 'running'
            RETURNING state
            """,
            [run_id, fence],
        )
        row = cursor.fetchone()
        if row is None:
            raise LeaseLost(str(run_id))
        return bool(row[0] == "waiting")


def wake(run_id: UUID) -> bool:
    """Make a waiting run claimable again; False when it does not wait."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE effects_runclaim SET state = 'queued' WHERE run_id = %s AND state = 'waiting'",
            [run_id],
        )
        return bool(cursor.rowcount == 1)


def lock(run_id: UUID) -> bool:
    """Hold a run's claim for the caller's transaction, as whoever decides about it from outside
    does first; False when the run is settled or unknown.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT settled_at IS NULL FROM effects_runclaim WHERE run_id = %s FOR UPDATE",
            [run_id],
        )
        row = cursor.fetchone()
        return row is not None and bool(row[0])


def request_stop(lane: UUID) -> list[UUID]:
    """Ask every open run of a lane to stop; a repeat changes nothing. Returns the open runs.

    A run that waits is woken, so that a worker takes it and ends it.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE effects_runclaim"
            " SET stop_requested_at = COALESCE(stop_requested_at, clock_timestamp()),"
            " state = CASE state WHEN 'waiting' THEN 'queued' ELSE state END"
            " WHERE lane = %s AND settled_at IS NULL RETURNING run_id",
            [lane],
        )
        return [row[0] for row in cursor.fetchall()]


def postpone(run_id: UUID, *, delay_s: float) -> None:
    """Count a failed attempt to start an unheld run and leave it alone for a while."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE effects_runclaim SET attempts = attempts + 1, fence = fence + 1,"
            " lease_until = clock_timestamp() + make_interval(secs => %s)"
            " WHERE run_id = %s AND settled_at IS NULL"
            " AND (lease_until IS NULL OR lease_until < clock_timestamp())",
            [delay_s, run_id],
        )

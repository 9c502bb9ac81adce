"""How a running turn takes up what its member tells it meanwhile.

A worker claims the waiting steers, hands them over, and marks them applied in the commit that
journals them. One that dies in between leaves them to the run's next worker; their author may
change them again once the short lease of handing over has run out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import connection

from agents.conversations import steers
from agents.journal.append import Draft
from agents.journal.frames import Kind
from audit.reasons import Reason
from tools.effects import claims
from tools.effects.claims import Claim

HANDING_OVER_S: Final = 15  # how long a claimed steer waits for the commit that applies it


class SteersWaiting(Exception):
    """The turn cannot end like this: it has been told something that it has not taken up."""


@dataclass(frozen=True)
class Steer:
    """A message claimed for this turn. `number` is its place in the order of acceptance."""

    id: UUID
    number: int
    message: str


def take(claim: Claim) -> list[Steer]:
    """Claim what waits for the run, in the order of acceptance; empty once the run is lost.

    What the same or an earlier worker of the run had claimed is claimed again: only the commit
    that applies a steer counts.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE conversations_steer AS mine
               SET state = 'claimed', fence = run.fence,
                   claimed_until = clock_timestamp() + make_interval(secs => %(lease)s)
              FROM effects_runclaim AS run
             WHERE mine.run_id = %(run)s AND mine.state IN ('pending', 'claimed')
               AND run.run_id = mine.run_id AND run.fence = %(fence)s AND run.state = 'running'
            RETURNING mine.id, mine.number, mine.message
            """,
            {"lease": HANDING_OVER_S, "run": claim.run_id, "fence": claim.fence},
        )
        taken = [Steer(*row) for row in cursor.fetchall()]
    return sorted(taken, key=lambda steer: steer.number)


def apply(claim: Claim, taken: Sequence[Steer]) -> list[Draft]:
    """Mark claimed steers applied, in the transaction that journals the drafts returned.

    A steer that its author changed or withdrew, since handing over took too long, is left out.
    Raises `LeaseLost` when the run belongs to another worker by now.
    """
    if not taken:
        return []
    claims.prove(claim.run_id, claim.fence)  # before the steers: everybody locks in this order
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE conversations_steer SET state = 'applied', claimed_until = NULL"
            " WHERE run_id = %s AND id = ANY(%s) AND state = 'claimed' AND fence = %s"
            " RETURNING id",
            [claim.run_id, [steer.id for steer in taken], claim.fence],
        )
        applied = {row[0] for row in cursor.fetchall()}
    return [
        Draft(Kind.STEER_APPLIED, {"steer_id": str(steer.id)}, {"message": steer.message})
        for steer in taken
        if steer.id in applied
    ]


def give_up(run_id: UUID, reason: str) -> list[Draft]:
    """Reject what waits for a run that does not end as usual, in the transaction of its terminal,
    which has proved the fence.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE conversations_steer SET state = 'rejected', reason = %s, claimed_until = NULL"
            " WHERE run_id = %s AND state IN ('pending', 'claimed') RETURNING number, id",
            [reason, run_id],
        )
        left = sorted(cursor.fetchall())
    return [steers.rejected(steer_id, Reason(reason)) for _, steer_id in left]

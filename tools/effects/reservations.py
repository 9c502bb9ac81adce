"""Intents of write effects. Written before a write begins, never removed.

After a crash an intent without a recorded result means: outcome unknown. Such an effect is never
repeated.
"""

from uuid import UUID

from django.db import connection, transaction

from tools.effects.claims import Claim, prove


def reserve(claim: Claim, call_id: str) -> bool:
    """Record that the call is about to write; False when it had been reserved before.

    One transaction of its own; raises `LeaseLost` when the fence is old.
    """
    with transaction.atomic():
        prove(claim.run_id, claim.fence)
        return begin(claim.run_id, claim.fence, call_id)


def begin(run_id: UUID, fence: int, call_id: str) -> bool:
    """As `reserve`, in a transaction that has proved the fence already."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO effects_reservation (run_id, call_id, fence) VALUES (%s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            [run_id, call_id, fence],
        )
        return bool(cursor.rowcount == 1)


def reserved(run_id: UUID) -> frozenset[str]:
    """The calls of a run whose write has begun."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT call_id FROM effects_reservation WHERE run_id = %s", [run_id])
        return frozenset(row[0] for row in cursor.fetchall())

"""The end of inputs that nobody ever worked: stopped, taken back, or told to a running turn."""

from typing import Final
from uuid import UUID

from django.db import connection, transaction

from agents.conversations.models import Input, InputStatus
from agents.journal.append import Draft, append
from agents.journal.frames import Kind
from agents.members.models import Member
from audit import funnel, metrics
from audit.reasons import Action, Reason

# What people read of an input that ended before anybody worked it.
ENDED: Final = {
    Reason.STOPPED: "Stopped.",
    Reason.WITHDRAWN: "Taken back.",
    Reason.STEERED: "Told to the answer that was being worked.",
}
NOTHING_USED: Final = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
END_ALL: Final = (
    "UPDATE effects_runclaim SET state = 'settled', settled_at = clock_timestamp()"
    " WHERE lane = %s AND state = 'queued' AND fence = 0 AND settled_at IS NULL"
    " RETURNING run_id"
)


def end_all(member: Member, conversation_id: UUID, reason: Reason) -> None:
    """End whatever waits in a conversation that the caller has locked, each run once."""
    with connection.cursor() as cursor:
        cursor.execute(END_ALL, [conversation_id])
        runs = [row[0] for row in cursor.fetchall()]
    for row in Input.objects.filter(run_id__in=runs).order_by("accepted_position"):
        end(row, member, reason)


def end(row: Input, member: Member, reason: Reason) -> None:
    """Give an input its terminal, in the transaction that closes its run."""
    Input.objects.filter(id=row.id).update(status=InputStatus.CANCELLED)
    data = {"reason": str(reason), "message": ENDED[reason], "usage": NOTHING_USED}
    append(
        row.conversation_id,
        [Draft(Kind.AGENT_RUN_CANCELLED, data)],
        run_id=row.run_id,
        input_id=row.id,
    )
    funnel.record(
        action=Action.TURN_ENDED,
        actor=member.principal,
        outcome="cancelled",
        reason=reason,
        subject=("agent", str(row.agent_id)),
        run_id=row.run_id,
    )
    transaction.on_commit(lambda: metrics.turn_ended("cancelled"), robust=True)

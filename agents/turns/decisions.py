"""What members decide about calls that wait: the doors ask here, so that all of them act alike."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from django.db import transaction

from agents.journal import append as journal
from agents.journal import publication
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.members.models import Member
from audit import canonical
from audit.reasons import Reason
from audit.refusals import Invalid
from tools.boundary import approvals
from tools.boundary.approvals import OUTCOMES, REASON_CHARACTERS, Decision
from tools.boundary.models import Approval, ApprovalState

# States whose settling is shown. A call that was staged anew is shown by its new question.
SHOWN: Final = frozenset(OUTCOMES)


def decide(
    *, member: Member, approval_id: UUID, decision: Decision, digest: str, reason: str = ""
) -> Approval:
    """Approve or deny one exact call; the turn goes on once nothing more is asked.

    Raises `Invalid` for too long a reason, `Refusal(BAD_JSON)` for one that cannot be stored, and
    what `tools.boundary.approvals.decide` raises.
    """
    canonical.check([reason, digest])
    if len(reason) > REASON_CHARACTERS:
        raise Invalid([{"field": "reason", "reason": str(Reason.TOO_LONG)}])
    return approvals.decide(
        member=member,
        approval_id=approval_id,
        decision=decision,
        digest=digest,
        reason=reason.strip(),
        tell=show,
    )


def withdraw(*, member: Member, approval_id: UUID) -> Approval:
    """Take a call back that has not been made; raises as `tools.boundary.approvals.withdraw`."""
    return approvals.withdraw(member=member, approval_id=approval_id, tell=show)


def answer(*, member: Member, approval_id: UUID) -> None:
    """Come to a run nobody watched; raises as `tools.boundary.approvals.answer`."""
    approvals.answer(member=member, approval_id=approval_id, tell=show)


def expire_due() -> int:
    """Settle questions nobody answered in time; returns how many turns go on."""
    return len(approvals.expire(tell=show))


def show(settled: Sequence[Approval]) -> None:
    """Journal what was settled, in the transaction that settles it, and wake the workers."""
    transaction.on_commit(publication.wake_workers)
    for row in settled:
        if row.state not in SHOWN:
            continue
        data = {
            "approval_id": str(row.id),
            "call_id": row.call_id,
            "outcome": OUTCOMES[ApprovalState(row.state)],
            "reason": row.reason,
        }
        journal.append(
            row.conversation_id,
            [Draft(Kind.APPROVAL_SETTLED, data)],
            run_id=row.run_id,
            input_id=row.input_id,
        )

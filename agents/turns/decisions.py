"""What members decide about calls that wait: the doors ask here, so that all of them act alike."""

from uuid import UUID

from agents.conversations.questions import show
from agents.members.models import Member
from audit import canonical
from audit.reasons import Reason
from audit.refusals import Invalid
from tools.boundary import approvals
from tools.boundary.approvals import REASON_CHARACTERS, Decision
from tools.boundary.models import Approval
from tools.boundary.redaction import readable


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
        reason=readable(reason).strip(),
        tell=show,
    )


def withdraw(*, member: Member, approval_id: UUID) -> Approval:
    """Take a question back; raises as `tools.boundary.approvals.withdraw`."""
    return approvals.withdraw(member=member, approval_id=approval_id, tell=show)


def answer(*, member: Member, approval_id: UUID) -> None:
    """Come to a run nobody watched; raises as `tools.boundary.approvals.answer`."""
    approvals.answer(member=member, approval_id=approval_id, tell=show)


def expire_due() -> int:
    """Settle questions nobody answered in time; returns how many turns go on."""
    return len(approvals.expire(tell=show))

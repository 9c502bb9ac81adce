"""What the gateway has to say before a message is accepted at all."""

from uuid import UUID

from agents.gateway import budgets, deployments
from agents.members.models import Member
from audit.reasons import Reason
from audit.refusals import Invalid


def check(member: Member, deployment_id: UUID | None) -> None:
    """Raise `Invalid` for a named deployment that cannot answer, and `RateLimited` when a budget
    of the person is used up already. That there is room for the call itself is made sure of
    before the call.
    """
    if deployment_id is not None and not deployments.can_answer(deployment_id):
        raise Invalid([{"field": "deployment", "reason": str(Reason.NOT_FOUND)}])
    budgets.check_at_the_door(member.pk)

"""Opening an agent to everybody, for administrators alone, and closing it again.

For shipped agents this is the whole of what an administrator may change; their definitions come
from source. Reconciliation leaves the decision alone.
"""

from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from agents.definitions.models import Agent, Audience
from agents.journal import publication
from agents.members import accounts
from agents.members.models import Member
from audit import funnel
from audit.reasons import Action, Reason
from audit.refusals import NotFound, Refusal


def publish(*, actor: Member, agent_id: UUID) -> bool:
    """Let everybody use an agent; False when they could already.

    Raises `Refusal` with `forbidden` for people who are no administrators, `NotFound` for an agent
    that is missing or deleted.
    """
    return _open_to(Audience.EVERYONE, Action.AGENT_SHARED, actor, agent_id)


def withdraw(*, actor: Member, agent_id: UUID) -> bool:
    """Leave an agent to its owner and direct shares, running answers included; False when it was
    so already.

    Raises as `publish`. Without the default agent, messages that name no agent are refused.
    """
    return _open_to(Audience.PRIVATE, Action.AGENT_UNSHARED, actor, agent_id)


def _open_to(audience: Audience, action: Action, actor: Member, agent_id: UUID) -> bool:
    is_own = Agent.objects.owned_by(actor).filter(id=agent_id).exists()
    if not accounts.is_administrator(actor) and not (is_own and audience is Audience.PRIVATE):
        raise Refusal(Reason.FORBIDDEN, "Only an administrator opens an agent to everybody.")
    with transaction.atomic():
        living = Agent.objects.filter(id=agent_id, deleted_at__isnull=True)
        if not living.exists():
            raise NotFound()
        if not living.exclude(audience=audience).update(audience=audience, updated_at=Now()):
            return False
        if audience is Audience.PRIVATE:
            transaction.on_commit(publication.hurry_stop)
        funnel.record(
            action=action,
            actor=actor.principal,
            outcome="success",
            subject=("agent", str(agent_id)),
            details={"audience": str(audience)},
        )
        return True

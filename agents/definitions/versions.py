"""Create, append to and delete agents. A version, once written, stays as it is."""

from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now

from agents.definitions import content as definition
from agents.definitions.models import Agent, AgentVersion
from agents.members.models import Member
from audit import canonical, funnel
from audit.reasons import Action, Reason
from audit.refusals import Conflict, Invalid, NotFound


def create(*, actor: Member, content: Any) -> AgentVersion:
    """A new private agent of the actor with its first version.

    Raises `Invalid` for a definition that may not be, or a name the actor already uses.
    """
    checked = definition.checked(content)
    agent = Agent(id=uuid4(), owner=actor, owner_principal=actor.principal, **_shown(checked))
    try:
        with transaction.atomic():
            agent.save(force_insert=True)
            return _write_version(agent, 1, checked, actor.principal, Action.AGENT_CREATED)
    except IntegrityError:
        raise _name_taken() from None


def append(*, actor: Member, agent_id: UUID, content: Any, expected_version: int) -> AgentVersion:
    """The next version of an agent the actor may edit.

    Raises `NotFound` when the actor may not even see it or may not edit it, `Conflict` when
    `expected_version` is no longer the newest, `Invalid` for bad content.
    """
    checked = definition.checked(content)
    try:
        with transaction.atomic():
            agent = (
                Agent.objects.editable_by(actor)
                .select_for_update(of=("self",), no_key=True)
                .get(id=agent_id)
            )
            if agent.head != expected_version:
                raise Conflict(current=agent.head)
            Agent.objects.filter(id=agent.id).update(
                head=F("head") + 1, updated_at=Now(), **_shown(checked)
            )
            return _write_version(
                agent, agent.head + 1, checked, actor.principal, Action.AGENT_VERSION_APPENDED
            )
    except Agent.DoesNotExist:
        raise NotFound() from None
    except IntegrityError:
        raise _name_taken() from None


def delete(*, actor: Member, agent_id: UUID) -> None:
    """Retire an agent of the actor: it can no longer be used; its history stays readable."""
    with transaction.atomic():
        retired = Agent.objects.owned_by(actor).filter(id=agent_id).update(deleted_at=Now())
        if not retired:
            raise NotFound()
        funnel.record(
            action=Action.AGENT_DELETED,
            actor=actor.principal,
            outcome="success",
            subject=("agent", str(agent_id)),
        )


def newest(agent: Agent) -> AgentVersion:
    """The version that recipients use now."""
    return AgentVersion.objects.get(agent=agent, number=agent.head)


def _shown(checked: dict[str, Any]) -> dict[str, Any]:
    """What lists show without reading the version: a copy of the newest version's words."""
    return {name: checked[name] for name in ("name", "description", "mode")}


def _write_version(
    agent: Agent, number: int, checked: dict[str, Any], author: str, action: Action
) -> AgentVersion:
    version = AgentVersion.objects.create(
        id=uuid4(),
        agent=agent,
        number=number,
        content=checked,
        digest=canonical.digest(checked),
        author_principal=author,
    )
    funnel.record(
        action=action,
        actor=author,
        outcome="success",
        subject=("agent", str(agent.id)),
        details={"version": number, "digest": version.digest},
    )
    return version


def _name_taken() -> Invalid:
    return Invalid([{"field": "content.name", "reason": str(Reason.NAME_TAKEN)}])

"""What a person may use at this instant: asked for every message and before every tool call."""

from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet

from agents.definitions.models import Agent, AgentVersion
from agents.journal.prepared import Person, instances
from agents.members.models import Member


def newest_versions(person: Any, agent_ids: Any) -> QuerySet[AgentVersion]:
    """The newest versions of those of the agents that a person may use."""
    return AgentVersion.objects.filter(
        agent__in=Agent.objects.usable_by(person).filter(id__in=agent_ids),
        number=F("agent__head"),
    )


AGENT = instances(
    Agent,
    lambda marks: Agent.objects.usable_by(marks.person("member")).filter(id=marks.uuid("agent")),
)
NEWEST_VERSION = instances(
    AgentVersion,
    lambda marks: newest_versions(marks.person("member"), [marks.uuid("agent")]),
)


def by_id(member: Member | Person, agent_id: UUID) -> Agent | None:
    """The agent, if the member may use it."""
    return AGENT.first(member=member.pk, agent=agent_id) if member.is_active else None


def newest_version(member: Member | Person, agent_id: UUID) -> AgentVersion | None:
    """The newest version of an agent, if the member may use it."""
    return NEWEST_VERSION.first(member=member.pk, agent=agent_id) if member.is_active else None

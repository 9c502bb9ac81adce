"""What a person may use at this instant: asked for every message and before every tool call."""

from uuid import UUID

from django.db.models import F

from agents.definitions.models import Agent, AgentVersion
from agents.journal.prepared import Person, instances
from agents.members.models import Member

AGENT = instances(
    Agent,
    lambda marks: Agent.objects.usable_by(marks.person("member")).filter(id=marks.uuid("agent")),
)
NEWEST_VERSION = instances(
    AgentVersion,
    lambda marks: AgentVersion.objects.filter(
        agent__in=Agent.objects.usable_by(marks.person("member")).filter(id=marks.uuid("agent")),
        number=F("agent__head"),
    ),
)


def by_id(member: Member | Person, agent_id: UUID) -> Agent | None:
    """The agent, if the member may use it."""
    return AGENT.first(member=member.pk, agent=agent_id) if member.is_active else None


def newest_version(member: Member | Person, agent_id: UUID) -> AgentVersion | None:
    """The newest version of an agent, if the member may use it."""
    return NEWEST_VERSION.first(member=member.pk, agent=agent_id) if member.is_active else None

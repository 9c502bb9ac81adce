"""What a running turn may do at this instant: read again before every tool call, and whether it may
go on at all, every few seconds.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, Value

from agents.conversations.models import Conversation
from agents.definitions import usable
from agents.definitions.models import Agent
from agents.journal.prepared import Marks, Person, Prepared
from agents.members.models import Member
from agents.turns.admission import granted_families
from tools.boundary import exposure
from tools.boundary.contract import Authority, RunIdentity, Tier

PEOPLE_PER_QUERY: Final = 50


def _at_home(marks: Marks) -> Any:
    """The member, while they are active and can see the conversation."""
    conversations = Conversation.objects.visible_to(marks.person("member"))
    return Member.objects.filter(
        Exists(conversations.filter(id=marks.uuid("conversation"))),
        id=marks.integer("member"),
        is_active=True,
    ).values_list("id")


AT_HOME = Prepared(lambda row: row[0], _at_home)


def now(identity: RunIdentity) -> Authority | None:
    """The run's authority; None when the member, the conversation or the agent is out of reach.

    The agent's newest version may have lost what the frozen one had: only what both allow is
    allowed, since the frozen offer is compared with this answer.
    """
    if AT_HOME.first(member=identity.member_id, conversation=identity.conversation_id) is None:
        return None
    version = usable.newest_version(Person(identity.member_id), identity.agent_id)
    if version is None:
        return None
    ceiling = Tier(version.content["capability_ceiling"])
    names = exposure.names_allowed(
        families=granted_families(version.content),
        ceiling=ceiling,
        surface=version.content["mode"],
    )
    return Authority(tool_names=names, ceiling=ceiling)


def withdrawn(identities: Sequence[RunIdentity]) -> set[UUID]:
    """Those of the runs that may not go on: their member is no longer active, or may no longer use
    their agent. A few queries for all of them together.
    """
    wanted: defaultdict[int, set[UUID]] = defaultdict(set)
    for identity in identities:
        wanted[identity.member_id].add(identity.agent_id)
    active = Member.objects.filter(pk__in=list(wanted), is_active=True)
    questions = [
        Agent.objects.usable_by(member)
        .filter(id__in=wanted[member.pk])
        .annotate(person=Value(member.pk))
        .values_list("person", "id")
        for member in active
    ]
    usable_now: set[tuple[int, UUID]] = set()
    for first in range(0, len(questions), PEOPLE_PER_QUERY):
        part = questions[first : first + PEOPLE_PER_QUERY]
        usable_now.update(part[0].union(*part[1:], all=True))
    return {
        identity.run_id
        for identity in identities
        if (identity.member_id, identity.agent_id) not in usable_now
    }

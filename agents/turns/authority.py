"""What a running turn may do at this instant, read again before every tool call."""

from typing import Any

from django.db.models import Exists

from agents.conversations.models import Conversation
from agents.definitions import usable
from agents.journal.prepared import Marks, Person, Prepared
from agents.members.models import Member
from agents.turns.admission import granted_families
from tools.boundary import exposure
from tools.boundary.contract import Authority, RunIdentity, Tier


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

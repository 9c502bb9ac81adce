"""What a running turn may do at this instant, read again before every tool call."""

from agents.conversations.models import Conversation
from agents.definitions import usable
from agents.members.models import Member
from agents.turns.admission import granted_families
from tools.boundary import exposure
from tools.boundary.contract import Authority, RunIdentity, Tier


def now(identity: RunIdentity) -> Authority | None:
    """The run's authority; None when the member, the conversation or the agent is out of reach.

    The agent's newest version may have lost what the frozen one had: only what both allow is
    allowed, since the frozen offer is compared with this answer.
    """
    member = Member.objects.filter(id=identity.member_id, is_active=True).first()
    if member is None:
        return None
    conversations = Conversation.objects.visible_to(member)
    if not conversations.filter(id=identity.conversation_id).exists():
        return None
    version = usable.newest_version(member, identity.agent_id)
    if version is None:
        return None
    ceiling = Tier(version.content["capability_ceiling"])
    names = exposure.names_allowed(
        families=granted_families(version.content),
        ceiling=ceiling,
        surface=version.content["mode"],
    )
    return Authority(tool_names=names, ceiling=ceiling)

"""Who can answer: the agents that pickers offer, one surface at a time."""

from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from agents.conversations.models import Conversation
from agents.definitions import library
from agents.definitions.bundling import default_agent_id
from agents.definitions.models import (
    Agent,
    AgentGroupObjectPermission,
    AgentUserObjectPermission,
    AgentVersion,
    Audience,
    Mode,
)
from agents.journal.prepared import Marks, Prepared
from agents.members.models import Member

SHOWN: Final = 100


class Choice(NamedTuple):
    """An agent as a picker offers it. `posture` is JSON text as it is stored."""

    id: UUID
    name: str
    description: str
    mode: str
    head: int
    protected: bool
    owner_id: int | None
    audience: str
    posture: str
    ceiling: str
    is_shared: bool


def _choices(marks: Marks, mode: Any) -> QuerySet[Any, tuple[Any, ...]]:
    newest = AgentVersion.objects.filter(agent=OuterRef("pk"), number=OuterRef("head"))
    shares = [
        Exists(model.objects.filter(content_object=OuterRef("pk")))
        for model in (AgentUserObjectPermission, AgentGroupObjectPermission)
    ]
    rows: QuerySet[Any, tuple[Any, ...]] = (
        Agent.objects.usable_by(marks.person("member"))
        .filter(mode=mode)
        .order_by("-protected", "name", "id")
        .annotate(
            posture=Subquery(newest.values("content__posture")[:1]),
            ceiling=Subquery(newest.values(tier=F("content__capability_ceiling"))[:1]),
            is_shared=shares[0] | shares[1],
        )
        .values_list(*Choice._fields)[:SHOWN]
    )
    return rows


def _mode_of_conversation(marks: Marks) -> Any:
    """The surface of a conversation is that of the agent it talks to."""
    talks_to = Conversation.objects.filter(id=marks.uuid("conversation")).values("agent__mode")
    return Coalesce(Subquery(talks_to[:1]), Value(Mode.CHAT.value))


ON_SURFACE: Final = Prepared(Choice._make, lambda marks: _choices(marks, marks.text("mode")))
IN_CONVERSATION: Final = Prepared(
    Choice._make, lambda marks: _choices(marks, _mode_of_conversation(marks))
)


def on_surface(member: Member, mode: Mode) -> list[Choice]:
    """Agents of a mode that a person may use, the shipped ones first, then by name."""
    return ON_SURFACE.rows(member=member.pk, mode=mode.value)


def in_conversation(member: Member, conversation_id: UUID) -> list[Choice]:
    """The same for a conversation: agents of the mode of the one it talks to."""
    return IN_CONVERSATION.rows(member=member.pk, conversation=conversation_id)


def default(choices: list[Choice]) -> Choice | None:
    """Who answers unless somebody else is chosen."""
    wanted = default_agent_id()
    return next(
        (choice for choice in choices if choice.id == wanted), choices[0] if choices else None
    )


def option(choice: Choice, member: Member) -> dict[str, Any]:
    """A choice in words: name, purpose, tools, sharing, version."""
    content = {
        "posture": orjson.loads(choice.posture),
        "capability_ceiling": orjson.loads(choice.ceiling),
        "mode": choice.mode,
    }
    return {
        "id": choice.id,
        "name": choice.name,
        "description": choice.description,
        "tools": [tool_name(label) for label in library.composed(content)],
        "sharing": sharing(
            is_protected=choice.protected,
            is_own=choice.owner_id == member.pk,
            is_everyones=choice.audience == Audience.EVERYONE,
            is_shared=choice.is_shared,
        ),
        "version": choice.head,
    }


def sharing(*, is_protected: bool, is_own: bool, is_everyones: bool, is_shared: bool) -> str:
    """Who has an agent, in two or three words."""
    if is_protected:
        return _("Included")
    if is_everyones:
        return _("For all members")
    if not is_own:
        return _("Shared with you")
    return _("Shared by you") if is_shared else _("Only you")


def tool_name(label: str) -> str:
    """A family of tools in the reader's language; those unknown here keep their own name."""
    known = {"Artifacts": _("Artifacts"), "Artifacts staged": _("Long artifacts")}
    return known.get(label, label)

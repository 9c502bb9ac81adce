"""Who can answer: the agents that pickers offer, one surface at a time."""

from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.expressions import RawSQL
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
from agents.definitions.querysets import USE
from agents.journal.prepared import Marks, Prepared
from agents.members.models import Member
from audit import reaching

SHOWN: Final = 100
BY_NAME: Final = ("-protected", "name", "id")


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


def _choices(marks: Marks, mode: Any, *, many: bool) -> QuerySet[Any, tuple[Any, ...]]:
    person = marks.person("member")
    named = None if many else RawSQL("SELECT unnest(%s::uuid[])", [marks.text("shared")])
    newest = AgentVersion.objects.filter(agent=OuterRef("pk"), number=OuterRef("head"))
    shares = [
        Exists(model.objects.filter(content_object=OuterRef("pk")))
        for model in (AgentUserObjectPermission, AgentGroupObjectPermission)
    ]
    rows: QuerySet[Any, tuple[Any, ...]] = (
        Agent.objects.usable_by(person)
        .filter(mode=mode)
        .nearest_of(person, named, SHOWN, *BY_NAME)
        .order_by(*BY_NAME)
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


def _on_surface(marks: Marks, *, many: bool) -> QuerySet[Any, tuple[Any, ...]]:
    return _choices(marks, marks.text("mode"), many=many)


def _in_conversation(marks: Marks, *, many: bool) -> QuerySet[Any, tuple[Any, ...]]:
    return _choices(marks, _mode_of_conversation(marks), many=many)


# Each by whether a person has more shares than can be named.
ON_SURFACE: Final = {
    many: Prepared(Choice._make, partial(_on_surface, many=many)) for many in (False, True)
}
IN_CONVERSATION: Final = {
    many: Prepared(Choice._make, partial(_in_conversation, many=many)) for many in (False, True)
}


def on_surface(member: Member, mode: Mode) -> list[Choice]:
    """Agents of a mode that a person may use, the shipped ones first, then by name."""
    return _asked(ON_SURFACE, member, mode=mode.value)


def in_conversation(member: Member, conversation_id: UUID) -> list[Choice]:
    """The same for a conversation: agents of the mode of the one it talks to."""
    return _asked(IN_CONVERSATION, member, conversation=conversation_id)


def _asked(questions: dict[bool, Prepared[Choice]], member: Member, **values: Any) -> list[Choice]:
    shared = reaching.shares(Agent, member.pk, USE)
    if shared is None:
        return questions[True].rows(member=member.pk, **values)
    named = "{" + ",".join(map(str, shared)) + "}"
    return questions[False].rows(member=member.pk, shared=named, **values)


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

"""The library: agents as their cards show them, a fixed number of questions for a whole page."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Exists, OuterRef, Subquery

from agents.definitions.models import (
    Agent,
    AgentGroupObjectPermission,
    AgentUserObjectPermission,
    AgentVersion,
    Audience,
)
from agents.definitions.querysets import AgentQuerySet
from agents.members.models import Member
from tools.boundary import exposure
from tools.boundary.contract import Tier


class Source(StrEnum):
    """Where an agent in the library comes from."""

    ME = "me"
    SHARED = "shared"
    INCLUDED = "included"


class Sharing(StrEnum):
    """Who has an agent besides its owner, as far as the reader may know."""

    PRIVATE = "private"
    SHARED = "shared"
    EVERYONE = "everyone"


@dataclass(frozen=True)
class May:
    """What the reader may do with an agent besides using it."""

    edit: bool
    duplicate: bool
    share: bool
    delete: bool


@dataclass(frozen=True)
class Card:
    """One agent. `tools` are families of tools it composes within its ceiling, in plain words."""

    agent: Agent
    owner_name: str
    tools: tuple[str, ...]
    package_count: int
    collection_count: int
    prompt_count: int
    sharing: Sharing
    may: May


def agents(
    member: Member, *, mode: str = "", text: str = "", source: Source | None = None
) -> AgentQuerySet:
    """The agents a person may use, under filters, with their owners at hand."""
    rows = Agent.objects.visible_to(member).select_related("owner")
    if mode:
        rows = rows.filter(mode=mode)
    if text:
        rows = rows.matching(text)
    if source is not None:
        rows = rows.coming_from(source, member)
    return rows


def cards(member: Member, rows: Sequence[Agent]) -> list[Card]:
    """A card for each of the agents, which the person may use; four questions for all of them."""
    ids = [row.id for row in rows]
    # Asked for each agent by its head: a join may read all versions of an agent that has many.
    newest = AgentVersion.objects.filter(agent=OuterRef("pk"), number=OuterRef("head"))
    content = Subquery(newest.values("content")[:1])
    contents: dict[Any, dict[str, Any]] = dict(
        Agent.objects.filter(id__in=ids).values_list("id", content)
    )
    may_edit = set(
        Agent.objects.editable_by(member).filter(id__in=ids).values_list("id", flat=True)
    )
    may_copy = set(
        Agent.objects.duplicable_by(member).filter(id__in=ids).values_list("id", flat=True)
    )
    shared = _shared(ids)
    return [
        Card(
            agent=row,
            owner_name=row.owner.name_shown() if row.owner else "",
            tools=composed(contents[row.id]),
            package_count=len(contents[row.id]["granted_package_ids"]),
            collection_count=len(contents[row.id]["collection_ids"]),
            prompt_count=len(contents[row.id]["prompt_ids"]),
            sharing=_sharing(row, member, row.id in shared),
            may=May(
                edit=row.id in may_edit,
                duplicate=row.id in may_copy,
                share=_owned(row, member),
                delete=_owned(row, member),
            ),
        )
        for row in rows
    ]


def composed(content: dict[str, Any]) -> tuple[str, ...]:
    """The families of tools a definition composes, as far as its ceiling lets any of them through;
    not those every agent has.
    """
    offered = exposure.offer(
        families=frozenset(content["posture"].get("tools", ())),
        ceiling=Tier(content["capability_ceiling"]),
        surface=content["mode"],
    )
    families = {tool.family for tool in offered if not tool.discovery} - {exposure.BASELINE}
    return tuple(family.replace("_", " ").capitalize() for family in sorted(families))


def _ids(rows: AgentQuerySet) -> set[Any]:
    return set(rows.values_list("id", flat=True))


def _owned(row: Agent, member: Member) -> bool:
    return row.owner_id == member.pk and not row.protected


def _sharing(row: Agent, member: Member, is_shared: bool) -> Sharing:
    if row.audience == Audience.EVERYONE:
        return Sharing.EVERYONE
    return Sharing.SHARED if is_shared or row.owner_id != member.pk else Sharing.PRIVATE


def _shared(ids: Sequence[Any]) -> set[Any]:
    """Which of the agents have a direct share; one is enough, so the others are not read."""
    by_person, by_group = (
        Exists(model.objects.filter(content_object=OuterRef("pk")))
        for model in (AgentUserObjectPermission, AgentGroupObjectPermission)
    )
    rows = Agent.objects.filter(by_person | by_group, id__in=ids)
    return set(rows.values_list("id", flat=True))

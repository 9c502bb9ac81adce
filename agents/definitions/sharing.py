"""Who may use, copy or edit an agent besides its owner: asked, granted and taken back.

A share hands on a definition and never a right: what an agent does is done with the rights of the
person who runs it. Rows are django-guardian's, on permission models with a foreign key to agents.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.models import Permission
from django.db import transaction

from agents.definitions import publication, versions
from agents.definitions.models import (
    Agent,
    AgentGroupObjectPermission,
    AgentUserObjectPermission,
    Audience,
)
from agents.journal import publication as journal
from agents.members import accounts, people
from agents.members.models import Member
from audit import funnel
from audit.funnel import Record
from audit.limits import limit
from audit.reasons import Action, Outcome, Reason
from audit.refusals import FieldProblem, Invalid

SHARES = limit("agent.shares", 200, "count", "People and groups one agent may be shared with.")


class Right(StrEnum):
    """What a share allows. Copying and editing include using; neither includes the other."""

    USE = "use"
    DUPLICATE = "duplicate"
    EDIT = "edit"


class Kind(StrEnum):
    """To whom a share is given."""

    MEMBER = "member"
    GROUP = "group"


CODENAMES: Final = {
    Right.USE: "use_agent",
    Right.DUPLICATE: "duplicate_agent",
    Right.EDIT: "edit_agent",
}
RIGHTS: Final = {codename: right for right, codename in CODENAMES.items()}


@dataclass(frozen=True)
class Holder:
    """A person or a group."""

    kind: Kind
    id: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True)
class Share:
    """What one holder was given directly."""

    holder: Holder
    name: str
    rights: tuple[Right, ...]


def shares(actor: Member, agent_id: UUID) -> tuple[Audience, list[Share]]:
    """An agent's audience and its direct shares, people first, by name; for its owner.

    Raises `NotFound`, or `Refusal(FORBIDDEN)` for others who may use it.
    """
    agent = Agent.objects.owned_by(actor).filter(id=agent_id).first()
    if agent is None:
        raise versions.unreachable(actor, agent_id, "see who else may")
    return Audience(agent.audience), _shares(agent)


def change(
    *,
    actor: Member,
    agent_id: UUID,
    audience: Audience | None = None,
    wanted: Mapping[Holder, frozenset[Right]] | None = None,
) -> tuple[Audience, list[Share]]:
    """Set an agent's audience, its direct shares, or both, at once; the shares replace all others.
    Answers as `shares` does afterwards; an administrator who is not the owner sees no shares.

    By its owner. All members as audience: by administrators, on any agent that is not protected.
    What was taken back ends running answers too. Raises `NotFound`, `Refusal(FORBIDDEN)`, and
    `Invalid` naming holders that cannot be.
    """
    with transaction.atomic():
        agent = _locked(actor, agent_id, only_audience=wanted is None)
        if audience is not None:
            decide = publication.publish if audience is Audience.EVERYONE else publication.withdraw
            decide(actor=actor, agent_id=agent_id)
        records = [] if wanted is None else _replace(actor, agent, wanted)
        if any(record.action is Action.AGENT_UNSHARED for record in records):
            transaction.on_commit(journal.hurry_stop)
        shown = _shares(agent) if agent.owner_id == actor.pk else []
        funnel.record_all(records)
    return Audience(agent.audience if audience is None else audience), shown


def _locked(actor: Member, agent_id: UUID, *, only_audience: bool) -> Agent:
    """The agent, locked, if it is the actor's, or an administrator decides about its audience."""
    among = Agent.objects.owned_by(actor)
    if only_audience and accounts.is_administrator(actor):
        among = Agent.objects.publishable()
    agent: Agent | None = (
        among.select_for_update(of=("self",), no_key=True).filter(id=agent_id).first()
    )
    if agent is None:
        raise versions.unreachable(actor, agent_id, "decide who else may")
    return agent


def _replace(
    actor: Member, agent: Agent, wanted: Mapping[Holder, frozenset[Right]]
) -> list[Record]:
    held = {holder: frozenset(rights) for holder, (_, rights) in _held(agent).items()}
    _check(actor, wanted, held)
    permissions = dict(
        Permission.objects.filter(
            content_type__app_label="definitions", codename__in=RIGHTS
        ).values_list("codename", "id")
    )
    records = []
    for holder in sorted({*held, *wanted}, key=str):
        had, gets = held.get(holder, frozenset()), wanted.get(holder, frozenset())
        _take(agent, holder, [permissions[CODENAMES[right]] for right in had - gets])
        _give(agent, holder, [permissions[CODENAMES[right]] for right in gets - had])
        if had != gets:
            action = Action.AGENT_SHARED if gets > had else Action.AGENT_UNSHARED
            rights = [str(right) for right in Right if right in gets]
            records.append(_record(actor, agent, action, {"holder": str(holder), "rights": rights}))
    return records


def _check(
    actor: Member,
    wanted: Mapping[Holder, frozenset[Right]],
    held: Mapping[Holder, frozenset[Right]],
) -> None:
    """Raise `Invalid` for holders that are not there; who has a share already may keep it."""
    fresh = [holder for holder in wanted if holder not in held]
    known = {
        Holder(Kind.MEMBER, found)
        for found in people.active_among(_ids(fresh, Kind.MEMBER))
        if found != actor.pk
    } | {
        Holder(Kind.GROUP, found)
        for found in people.groups_of(actor)
        .filter(id__in=_ids(fresh, Kind.GROUP))
        .values_list("id", flat=True)
    }
    faults: list[FieldProblem] = [
        {"field": f"shares.{place}.{holder.kind}_id", "reason": str(Reason.NOT_FOUND)}
        for place, holder in enumerate(wanted)
        if holder not in held and holder not in known
    ]
    if faults:
        raise Invalid(faults)


def _ids(holders: Sequence[Holder], kind: Kind) -> list[int]:
    return [holder.id for holder in holders if holder.kind is kind]


def _shares(agent: Agent) -> list[Share]:
    found = [
        Share(holder, name, tuple(right for right in Right if right in rights))
        for holder, (name, rights) in _held(agent).items()
    ]
    return sorted(found, key=lambda share: (share.holder.kind is Kind.GROUP, share.name.casefold()))


def _held(agent: Agent) -> dict[Holder, tuple[str, set[Right]]]:
    """Every holder with its name and rights."""
    held: dict[Holder, tuple[str, set[Right]]] = {}
    members = AgentUserObjectPermission.objects.filter(content_object=agent).select_related(
        "user", "permission"
    )
    for row in members:
        holder = Holder(Kind.MEMBER, row.user_id)
        held.setdefault(holder, (row.user.name_shown(), set()))[1].add(
            RIGHTS[row.permission.codename]
        )
    groups = AgentGroupObjectPermission.objects.filter(content_object=agent).select_related(
        "group", "permission"
    )
    for row in groups:
        holder = Holder(Kind.GROUP, row.group_id)
        held.setdefault(holder, (row.group.name, set()))[1].add(RIGHTS[row.permission.codename])
    return held


def _give(agent: Agent, holder: Holder, permission_ids: Sequence[int]) -> None:
    rows: list[Any]
    if holder.kind is Kind.MEMBER:
        rows = [
            AgentUserObjectPermission(
                content_object=agent, user_id=holder.id, permission_id=permission_id
            )
            for permission_id in permission_ids
        ]
        AgentUserObjectPermission.objects.bulk_create(rows)
    else:
        rows = [
            AgentGroupObjectPermission(
                content_object=agent, group_id=holder.id, permission_id=permission_id
            )
            for permission_id in permission_ids
        ]
        AgentGroupObjectPermission.objects.bulk_create(rows)


def _take(agent: Agent, holder: Holder, permission_ids: Sequence[int]) -> None:
    if not permission_ids:
        return
    if holder.kind is Kind.MEMBER:
        AgentUserObjectPermission.objects.filter(
            content_object=agent, user_id=holder.id, permission_id__in=permission_ids
        ).delete()
    else:
        AgentGroupObjectPermission.objects.filter(
            content_object=agent, group_id=holder.id, permission_id__in=permission_ids
        ).delete()


def _record(actor: Member, agent: Agent, action: Action, details: dict[str, Any]) -> Record:
    return Record(
        action,
        actor.principal,
        Outcome.SUCCESS,
        subject=("agent", str(agent.id)),
        details=details,
    )

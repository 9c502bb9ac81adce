"""Create, append to, go back, copy and delete agents. A version, once written, stays as it is."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now

from agents.definitions import content as definition
from agents.definitions import differences
from agents.definitions.models import Agent, AgentVersion
from agents.definitions.querysets import AgentQuerySet
from agents.journal import publication
from agents.members.models import Member
from audit import canonical, funnel
from audit.reasons import Action, Reason
from audit.refusals import Conflict, Invalid, NotFound, Refusal

COPIES_AT_ONCE: Final = 50  # of one person, each of which may take the name the others chose


class _NameTaken(Invalid):
    """Another living agent of the owner has this name."""

    def __init__(self) -> None:
        super().__init__([{"field": "content.name", "reason": str(Reason.NAME_TAKEN)}])


def create(*, actor: Member, content: Any) -> AgentVersion:
    """A new private agent of the actor with its first version.

    Raises `Invalid` for a definition that may not be, or a name the actor already uses.
    """
    checked = definition.checked(content)
    agent = Agent(id=uuid4(), owner=actor, owner_principal=actor.principal, **_shown(checked))
    with _naming(), transaction.atomic():
        agent.save(force_insert=True)
        return _write_version(agent, 1, checked, actor.principal, Action.AGENT_CREATED)


def append(*, actor: Member, agent_id: UUID, content: Any, expected_version: int) -> AgentVersion:
    """The next version of an agent the actor may edit.

    Raises `NotFound` when the actor may not even see it or may not edit it, `Conflict` with what
    has changed since when `expected_version` is no longer the newest, `Invalid` for bad content.
    """
    checked = definition.checked(content)
    with _naming(), transaction.atomic():
        agent = _locked(actor, agent_id)
        if agent.head != expected_version:
            raise _stale(agent, expected_version)
        return _append(actor, agent, checked, Action.AGENT_VERSION_APPENDED)


def restore(*, actor: Member, agent_id: UUID, version: int, expected_version: int) -> AgentVersion:
    """A new version with the content of an earlier one. Raises like `append`.

    Content that may no longer be in a definition is refused like any other.
    """
    with _naming(), transaction.atomic():
        agent = _locked(actor, agent_id)
        if agent.head != expected_version:
            raise _stale(agent, expected_version)
        earlier = AgentVersion.objects.filter(agent=agent, number=version).first()
        if earlier is None:
            raise NotFound()
        checked = definition.checked(earlier.content)
        return _append(actor, agent, checked, Action.AGENT_VERSION_APPENDED)


def rollback(*, actor: Member, agent_id: UUID, expected_version: int) -> AgentVersion:
    """Undo the newest change: a new version with the content of the one before it.

    Raises like `append`, and `Conflict(CONFLICT)` where nothing stands before.
    """
    agent = _reached(actor, agent_id, Agent.objects.editable_by(actor), "change it")
    if agent.head != expected_version:
        raise _stale(agent, expected_version)
    if agent.head == 1:
        raise Conflict(Reason.CONFLICT, "This is the first version; there is none before it.")
    return restore(
        actor=actor,
        agent_id=agent_id,
        version=expected_version - 1,
        expected_version=expected_version,
    )


def duplicate(*, actor: Member, agent_id: UUID, name: str | None = None) -> AgentVersion:
    """A private agent of the actor's with the newest content of one they may copy.

    Without a name it is called after the original, however many copies are made at once. Raises
    `NotFound` for an agent the actor may not copy, `Invalid` for a name that may not be or is
    taken.
    """
    original = _reached(actor, agent_id, Agent.objects.duplicable_by(actor), "copy it")
    content = newest(original).content
    if name is not None:
        return create(actor=actor, content={**content, "name": name})
    for _ in range(COPIES_AT_ONCE):
        called = _free_name(actor, original.name)
        with suppress(_NameTaken):  # by a copy made at the same moment
            return create(actor=actor, content={**content, "name": called})
    raise Conflict(Reason.CONFLICT, "Too many copies are being made at once. Try again.")


def delete(*, actor: Member, agent_id: UUID) -> None:
    """Retire an agent of the actor: it can no longer be used; its history stays.

    Raises `NotFound`, or `Refusal(FORBIDDEN)` for somebody else's that the actor may use.
    """
    with transaction.atomic():
        retired = Agent.objects.owned_by(actor).filter(id=agent_id).update(deleted_at=Now())
        if not retired:
            raise unreachable(actor, agent_id, "delete it")
        transaction.on_commit(publication.hurry_stop)
        funnel.record(
            action=Action.AGENT_DELETED,
            actor=actor.principal,
            outcome="success",
            subject=("agent", str(agent_id)),
        )


def newest(agent: Agent) -> AgentVersion:
    """The version that recipients use now."""
    return AgentVersion.objects.get(agent=agent, number=agent.head)


def unreachable(actor: Member, agent_id: UUID, what: str) -> Refusal:
    """Why somebody may not do a thing: because they may only use the agent, or not even that."""
    if Agent.objects.visible_to(actor).filter(id=agent_id).exists():
        return Refusal(Reason.FORBIDDEN, f"You may use this agent, but not {what}.")
    return NotFound()


def _reached(actor: Member, agent_id: UUID, among: AgentQuerySet, what: str) -> Agent:
    found: Agent | None = among.filter(id=agent_id).first()
    if found is None:
        raise unreachable(actor, agent_id, what)
    return found


def _locked(actor: Member, agent_id: UUID) -> Agent:
    among = Agent.objects.editable_by(actor).select_for_update(of=("self",), no_key=True)
    return _reached(actor, agent_id, among, "change it")


def _stale(agent: Agent, expected_version: int) -> Conflict:
    """A conflict that shows the person, who may read both versions, what came in between."""
    both = AgentVersion.objects.filter(agent=agent, number__in=(expected_version, agent.head))
    contents = dict(both.values_list("number", "content"))
    base, head = contents.get(expected_version), contents[agent.head]
    changes = [] if base is None else differences.told(base, head)
    return Conflict(current=agent.head, details={"current": agent.head, "changes": changes})


def _free_name(actor: Member, name: str) -> str:
    """The name, or the first of "name 2", "name 3" … that no living agent of the actor has."""
    taken = set(Agent.objects.owned_by(actor).values_list("name", flat=True))
    stem = name[: int(definition.NAME_CHARACTERS) - len(f" {len(taken) + 1}")]
    numbered = (f"{stem} {number}" for number in range(2, len(taken) + 2))
    return next((free for free in (name, *numbered) if free not in taken), name)


def _append(actor: Member, agent: Agent, checked: dict[str, Any], action: Action) -> AgentVersion:
    if agent.owner_id != actor.pk and checked["name"] != agent.name:
        # Which names are free depends on the owner's other agents, which an editor does not see.
        raise Invalid(
            [{"field": "content.name", "reason": str(Reason.FORBIDDEN)}],
            "Only its owner gives an agent another name.",
        )
    Agent.objects.filter(id=agent.id).update(
        head=F("head") + 1, updated_at=Now(), **_shown(checked)
    )
    return _write_version(agent, agent.head + 1, checked, actor.principal, action)


@contextmanager
def _naming() -> Iterator[None]:
    """Turns a broken uniqueness of names into the refusal it is."""
    try:
        yield
    except IntegrityError:
        raise _NameTaken() from None


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

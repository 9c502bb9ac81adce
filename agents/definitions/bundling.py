"""Bundled agents: definitions shipped in source, reconciled into protected rows.

Source says what a bundle is; administrators say whether everybody sees it. So the content of a row
always follows its file, and its audience is set from the file once, when the row is made.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum, auto
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, UUID, uuid5

from django.db import connection, transaction
from django.db.models.functions import Now

from agents.definitions import content as definition
from agents.definitions.models import Agent, AgentVersion, Audience
from audit import canonical, funnel
from audit.reasons import Action

FOLDER: Final = Path(__file__).parent / "bundles"
OWNER: Final = "bundle:"
# Of two reconciliations at once the second waits here for each row, finds it done and goes on.
LOCK: Final = 0x6B61697A_656E0001


class Outcome(StrEnum):
    """What reconciling one bundle did to its row."""

    CREATED = auto()
    UPDATED = auto()
    RESTORED = auto()
    RETIRED = auto()
    UNCHANGED = auto()


@dataclass(frozen=True)
class Bundle:
    """One shipped agent. Its id follows from the slug, so every installation agrees on it.

    `published` is whether a new installation shows it to everybody before anybody has decided.
    """

    slug: str
    content: dict[str, Any]
    published: bool = False

    @property
    def principal(self) -> str:
        """The owner that no signed-in person can match."""
        return f"{OWNER}{self.slug}"

    @property
    def agent_id(self) -> UUID:
        """A stable id made from the slug."""
        return uuid5(NAMESPACE_URL, f"kaizen:{self.principal}")


def shipped(folder: Path = FOLDER) -> list[Bundle]:
    """All bundles in source, checked like any definition; raises `Invalid` for a bad one."""
    bundles = []
    for path in sorted(folder.glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        slug, published = data.pop("slug"), data.pop("published", False)
        data["persona"] = data["persona"].strip()
        bundles.append(Bundle(slug, definition.checked(data), published is True))
    return bundles


def default_agent_id() -> UUID:
    """The agent that answers where a member has chosen none."""
    return Bundle(slug="default", content={}).agent_id


def reconcile_all(bundles: Iterable[Bundle]) -> dict[str, Outcome]:
    """Bring all rows to what source says, by slug; bundles that source no longer has are retired.

    Safe to repeat and safe when several do it at once: each bundle is a transaction of its own.
    """
    outcomes = {bundle.slug: brought(bundle) for bundle in bundles}
    gone = (
        Agent.objects.filter(owner_principal__startswith=OWNER, deleted_at__isnull=True)
        .exclude(owner_principal__in=[f"{OWNER}{slug}" for slug in outcomes])
        .order_by("owner_principal")
    )
    for agent_id, principal in list(gone.values_list("id", "owner_principal")):
        if _retire(agent_id, principal):
            outcomes[principal.removeprefix(OWNER)] = Outcome.RETIRED
    return outcomes


def reconcile(bundle: Bundle) -> bool:
    """Bring one bundle's rows to what source says; True when something changed."""
    return brought(bundle) is not Outcome.UNCHANGED


def brought(bundle: Bundle) -> Outcome:
    """Bring one bundle's rows to what source says, and what that took.

    A version is appended only where the definition differs. Who may use the agent stays as it was.
    """
    digest = canonical.digest(bundle.content)
    with transaction.atomic():
        _wait_for_others()
        agent = Agent.objects.select_for_update(no_key=True).filter(id=bundle.agent_id).first()
        if agent is None:
            _create(bundle)
            _append(bundle, 1, digest)
            return Outcome.CREATED
        current = AgentVersion.objects.get(agent=agent, number=agent.head).digest == digest
        if current and agent.deleted_at is None:
            return Outcome.UNCHANGED
        number = agent.head if current else agent.head + 1
        Agent.objects.filter(id=agent.id).update(
            **_shown(bundle), protected=True, head=number, deleted_at=None, updated_at=Now()
        )
        if not current:
            _append(bundle, number, digest)
            return Outcome.UPDATED
        _record(Action.BUNDLE_RECONCILED, bundle.principal, bundle.agent_id, {"version": number})
        return Outcome.RESTORED


def _create(bundle: Bundle) -> None:
    Agent.objects.create(
        id=bundle.agent_id,
        owner_principal=bundle.principal,
        protected=True,
        audience=Audience.EVERYONE if bundle.published else Audience.PRIVATE,
        **_shown(bundle),
    )


def _append(bundle: Bundle, number: int, digest: str) -> None:
    AgentVersion.objects.create(
        id=uuid5(bundle.agent_id, str(number)),
        agent_id=bundle.agent_id,
        number=number,
        content=bundle.content,
        digest=digest,
        author_principal=bundle.principal,
    )
    details = {"version": number, "digest": digest}
    _record(Action.AGENT_VERSION_APPENDED, bundle.principal, bundle.agent_id, details)


def _retire(agent_id: UUID, principal: str) -> bool:
    """Hide an agent whose file is gone, as if it had been deleted; its history stays."""
    with transaction.atomic():
        living = Agent.objects.filter(id=agent_id, deleted_at__isnull=True)
        if not living.update(deleted_at=Now()):
            return False
        _record(Action.AGENT_DELETED, principal, agent_id, {})
        return True


def _wait_for_others() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def _shown(bundle: Bundle) -> dict[str, Any]:
    return {name: bundle.content[name] for name in ("name", "description", "mode")}


def _record(action: Action, principal: str, agent_id: UUID, details: dict[str, Any]) -> None:
    funnel.record(
        action=action,
        actor=principal,
        outcome="success",
        subject=("agent", str(agent_id)),
        details=details,
    )

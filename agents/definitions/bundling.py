"""Bundled agents: definitions shipped in source, reconciled into protected rows."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, UUID, uuid5

from django.db import transaction
from django.db.models.functions import Now

from agents.definitions import content as definition
from agents.definitions.models import Agent, AgentVersion, Audience
from audit import canonical, funnel
from audit.reasons import Action

FOLDER: Final = Path(__file__).parent / "bundles"


@dataclass(frozen=True)
class Bundle:
    """One shipped agent. Its id follows from the slug, so every installation agrees on it."""

    slug: str
    content: dict[str, Any]

    @property
    def principal(self) -> str:
        """The owner that no signed-in person can match."""
        return f"bundle:{self.slug}"

    @property
    def agent_id(self) -> UUID:
        """A stable id made from the slug."""
        return uuid5(NAMESPACE_URL, f"kaizen:{self.principal}")


def shipped(folder: Path = FOLDER) -> list[Bundle]:
    """All bundles in source, checked like any definition; raises `Invalid` for a bad one."""
    bundles = []
    for path in sorted(folder.glob("*.toml")):
        data = tomllib.loads(path.read_text())
        slug = data.pop("slug")
        data["persona"] = data["persona"].strip()
        bundles.append(Bundle(slug=slug, content=definition.checked(data)))
    return bundles


def default_agent_id() -> UUID:
    """The agent that answers where a member has chosen none."""
    return Bundle(slug="default", content={}).agent_id


def reconcile(bundle: Bundle) -> bool:
    """Bring one bundle's rows to what source says; True when a version was appended."""
    digest = canonical.digest(bundle.content)
    with transaction.atomic():
        agent = Agent.objects.select_for_update(no_key=True).filter(id=bundle.agent_id).first()
        if agent is not None:
            newest = AgentVersion.objects.get(agent=agent, number=agent.head)
            if newest.digest == digest and agent.deleted_at is None:
                return False
        number = 1 if agent is None else agent.head + 1
        shown = {name: bundle.content[name] for name in ("name", "description", "mode")}
        Agent.objects.update_or_create(
            id=bundle.agent_id,
            defaults={
                **shown,
                "owner_principal": bundle.principal,
                "protected": True,
                "audience": Audience.EVERYONE,
                "head": number,
                "deleted_at": None,
                "updated_at": Now(),
            },
        )
        version = AgentVersion.objects.create(
            id=uuid5(bundle.agent_id, str(number)),
            agent_id=bundle.agent_id,
            number=number,
            content=bundle.content,
            digest=digest,
            author_principal=bundle.principal,
        )
        funnel.record(
            action=Action.AGENT_VERSION_APPENDED,
            actor=bundle.principal,
            outcome="success",
            subject=("agent", str(bundle.agent_id)),
            details={"version": number, "digest": version.digest},
        )
        return True

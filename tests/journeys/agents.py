"""Agents of people in the stack's database, and what many journeys do with the studio."""

import json
from typing import Any
from urllib.request import Request, urlopen
from uuid import UUID

from playwright.sync_api import FrameLocator, Page

from agents.definitions import sharing, versions
from agents.definitions.models import AgentVersion
from agents.definitions.sharing import Holder, Kind, Right
from tests.patience import promised
from tests.stack import Person, Stack

PERSONA = "You plan ferries.\n\n- Name the harbour.\n- Name the berth.\n- Be brief.\n"


def made(who: Person, name: str, **content: Any) -> UUID:
    """A new agent of somebody."""
    wanted = {"name": name, "persona": PERSONA, "description": "Plans crossings.", **content}
    return UUID(str(versions.create(actor=who.member, content=wanted).agent_id))


def changed(who: Person, agent_id: UUID, expected: int, **content: Any) -> None:
    """Another version of an agent: the newest with some fields changed."""
    newest = AgentVersion.objects.get(agent=agent_id, number=expected).content
    versions.append(
        actor=who.member,
        agent_id=agent_id,
        content={**newest, **content},
        expected_version=expected,
    )


def shared(who: Person, agent_id: UUID, other: Person, *rights: Right) -> None:
    """Somebody's agent, given to another person alone."""
    holder = Holder(Kind.MEMBER, other.member.pk)
    sharing.change(actor=who.member, agent_id=agent_id, wanted={holder: frozenset(rights)})


def asked(stack: Stack, who: Person, path: str) -> Any:
    """What the server answers a person at the REST door."""
    headers = {"Authorization": f"Bearer {who.token}", "Accept": "application/json"}
    with urlopen(Request(f"{stack.url}/api/{path}", headers=headers), timeout=promised(5)) as got:
        return json.load(got)


def stored(stack: Stack, who: Person, agent_id: UUID) -> tuple[int, dict[str, Any]]:
    """The newest version's number and content, as the server has them."""
    body = asked(stack, who, f"agents/{agent_id}")
    return body["version"], body["content"]


def trial(page: Page) -> FrameLocator:
    """The test chat beside the editor."""
    return page.frame_locator("#trial")

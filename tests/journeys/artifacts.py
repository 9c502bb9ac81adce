"""Artifacts of people in the stack's database, and what many journeys do with the panel."""

import json
import re
from typing import Any
from urllib.request import Request, urlopen
from uuid import UUID

from playwright.sync_api import Locator, Page, expect

from artifacts import writing
from artifacts.models import ArtifactVersion
from artifacts.writing import Draft
from tests.journeys.conftest import send, wait_until_done
from tests.patience import promised
from tests.stack import Person, Stack

PLAN = "# Ferry plan\n\nThe crossing takes **40 minutes**.\n\n- Ask the harbour\n- Book the dock\n"
GRAPH: dict[str, Any] = {
    "schema_version": 1,
    "status": "draft",
    "nodes": [
        {"id": "ann", "label": "MS Ann", "type": "boat", "source_ids": ["register"]},
        {"id": "nord", "label": "Harbour Nord", "type": "place"},
        {"id": "ada", "label": "Captain Ada", "type": "person"},
    ],
    "edges": [
        {"id": "1", "source": "ann", "target": "nord", "label": "sails to"},
        {"id": "2", "source": "ada", "target": "ann", "label": "commands"},
    ],
    "sources": [{"id": "register", "title": "Harbour register", "excerpt": "Berth four."}],
}


def kept(
    who: Person, title: str, content: str, kind: str = "markdown", language: str = ""
) -> ArtifactVersion:
    """A new artifact of somebody."""
    return writing.create(actor=who.member, draft=Draft(title, kind, content, language))


def changed(who: Person, artifact_id: UUID, content: str, expected: int) -> ArtifactVersion:
    """Another version of an artifact."""
    return writing.update(
        actor=who.member, artifact_id=artifact_id, content=content, expected_version=expected
    )


def stored(stack: Stack, who: Person, artifact_id: UUID) -> tuple[int, str]:
    """The newest version's number and content, as the server has them."""
    headers = {"Authorization": f"Bearer {who.token}", "Accept": "application/json"}
    request = Request(f"{stack.url}/api/artifacts/{artifact_id}", headers=headers)
    with urlopen(request, timeout=promised(5)) as answer:
        body = json.load(answer)
    return body["version"], body["newest"]["content"]


def keep_in_chat(page: Page, title: str = "Ferry plan", content: str = PLAN) -> None:
    """Have an agent keep a document in the conversation on the page."""
    call = json.dumps({"title": title, "kind": "markdown", "content": content})
    send(page, f"call: create_artifact {call}\nthen:\nsay: Kept.")
    expect(page.get_by_role("button", name=f"Open: {title}")).to_be_visible()
    wait_until_done(page)


def panel(page: Page) -> Locator:
    """The panel, wherever it stands."""
    return page.locator(".panel")


def tab(page: Page, name: str) -> Locator:
    """One of the panel's tabs."""
    return page.get_by_role("tab", name=re.compile(f"^{name}"))


def editor(page: Page) -> Locator:
    """Where the source is written."""
    return page.get_by_role("textbox", name=re.compile("^Source of"))

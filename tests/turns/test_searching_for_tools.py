"""A catalogue larger than what a step is shown, through a whole turn worked in this process."""

import asyncio
import json
from typing import Any

import pytest

from agents.journal.models import Entry
from agents.turns.live import LivePublisher
from tests.turns.conftest import Desk
from tests.turns.working import worked
from tools.boundary import exposure

pytestmark = pytest.mark.stack

SHOWN = 3


def offers(entries: list[Entry]) -> list[list[str]]:
    """The offer each call came from, in order."""
    started = [entry for entry in entries if entry.kind == "tool_started"]
    return [entry.hidden["snapshot"]["offered"] for entry in started]


def results(entries: list[Entry]) -> list[dict[str, Any]]:
    return [entry.data for entry in entries if entry.kind == "tool_ended"]


@pytest.mark.req("REG-035", "REG-037")
async def test_a_found_tool_can_be_called_from_the_next_step_on(
    alone: Desk, publisher: LivePublisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exposure, "DIRECT_TOOLS", SHOWN)
    save = 'call: create_artifact {"title": "T", "kind": "text", "content": "c"}'
    search = 'call: tool_search {"query": "save an artifact"}'
    script = f"{save}\n{search}\nthen:\n{save}\nthen:\nsay: Saved."
    # Named earlier in the catalogue, these two fill the room beside the search.
    script += "\n\nsearch_about, show_chat_canvas"
    entries = await worked(alone, publisher, script)
    assert entries[-1].kind == "agent_run_completed", entries[-1].data
    outcomes = [(result["outcome"], result["error_class"]) for result in results(entries)]
    assert sorted(outcomes[:2], key=str) == [("denied", "not_found"), ("success", None)]
    assert outcomes[2] == ("success", None)
    first, beside, last = offers(entries)
    assert first == beside
    assert "create_artifact" not in first
    assert "create_artifact" in last
    assert {len(offer) for offer in (first, last)} == {SHOWN}
    asked = await asyncio.to_thread(alone.requests, "save an artifact")
    advertised = [len(body["tools"]) for body in asked if "tools" in body]
    assert set(advertised) == {SHOWN}


@pytest.mark.req("REG-030", "REG-013")
async def test_a_tool_the_member_names_is_shown_in_the_first_step(
    alone: Desk, publisher: LivePublisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exposure, "DIRECT_TOOLS", SHOWN)
    save = 'call: create_artifact {"title": "T", "kind": "text", "content": "c"}'
    entries = await worked(alone, publisher, f"{save}\nthen:\nsay: Saved.\n\nrun_anything, please")
    assert entries[-1].kind == "agent_run_completed", entries[-1].data
    (offer,) = offers(entries)
    assert "create_artifact" in offer
    assert "run_anything" not in offer
    assert json.dumps(results(entries)).count('"success"') == 1


@pytest.mark.req("REG-036", "BND-021")
async def test_searching_alone_ends_the_turn(
    alone: Desk, publisher: LivePublisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exposure, "DIRECT_TOOLS", SHOWN)
    searches = [f'call: tool_search {{"query": "number {n}"}}' for n in range(6)]
    entries = await worked(alone, publisher, "\nthen:\n".join([*searches, "say: never"]))
    assert entries[-1].kind == "agent_run_failed"
    assert entries[-1].data["reason"] == "discovery_exhausted"
    assert len(results(entries)) == 4

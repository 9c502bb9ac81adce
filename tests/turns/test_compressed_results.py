"""Long results reach the model shorter where the member wants that, and people as they were."""

import json
import secrets

import pytest

from agents.conversations.inputs import Accepted
from agents.definitions import versions
from agents.journal.models import Entry
from agents.members import preferences
from tests.turns.conftest import Desk

pytestmark = pytest.mark.stack

LISTING = "call: list_available_agents {}\nthen:\nsay: These are your agents.\n"


def result(desk: Desk, asked: Accepted) -> Entry:
    (ended,) = [entry for entry in desk.entries(asked) if entry.kind == "tool_ended"]
    return ended


@pytest.mark.req("BND-004")
def test_a_members_choice_shortens_what_the_model_reads(desk: Desk) -> None:
    for n in range(20):
        content = {
            "name": f"Helper {n:02} {secrets.token_hex(4)}",
            "description": "Helps. " * 40,
            "persona": "Help.",
        }
        versions.create(actor=desk.member, content=content)
    plain = result(desk, desk.answered(LISTING))
    preferences.change(actor=desk.member, chosen={"compress_tool_results": True})
    shorter = result(desk, desk.answered(LISTING))
    assert len(plain.hidden["model_view"]) > 5_000
    assert len(shorter.hidden["model_view"].encode()) <= 4_096
    assert json.loads(shorter.hidden["model_view"])["compressed"] is True
    assert shorter.data["result"] == plain.data["result"]

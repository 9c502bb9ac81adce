"""The rules of conduct on the running product: what the model reads, and how such turns end."""

import json
import secrets
from typing import Any
from uuid import uuid4

import pytest

from agents.conversations.inputs import Accepted
from agents.definitions import versions
from agents.journal.models import Entry
from tests.turns.conftest import Desk

pytestmark = pytest.mark.stack


def outcomes(desk: Desk, asked: Accepted) -> list[str]:
    return [entry.data["outcome"] for entry in desk.entries(asked) if entry.kind == "tool_ended"]


def told(desk: Desk, mark: str) -> list[Any]:
    """What the model read of each result in its last request."""
    messages = desk.requests(mark)[-1]["messages"]
    return [json.loads(message["content"]) for message in messages if message["role"] == "tool"]


def reader(desk: Desk) -> str:
    """An agent that may read artifacts."""
    content = {
        "name": f"Reader {secrets.token_hex(4)}",
        "persona": "Read things.",
        "capability_ceiling": "write",
        "posture": {"tools": ["artifacts"]},
    }
    return str(versions.create(actor=desk.member, content=content).agent_id)


@pytest.mark.req("BND-007", "BND-008", "BND-010")
def test_the_model_reads_why_once_and_a_second_denial_of_the_tool_ends_the_turn(
    desk: Desk,
) -> None:
    mark = secrets.token_hex(8)
    invented = f'call: read_minds {{"of": "{mark}"}}\n'
    asked = desk.answered(f"{invented}then:\n{invented}then:\nsay: Never\n")
    (first,) = told(desk, mark)
    assert first["reason"] == "tool_not_offered"
    assert outcomes(desk, asked) == ["denied", "denied"]
    assert [entry.hidden["model_view"] for entry in denials(desk, asked)][1].count("reason") == 0
    end = desk.ended(asked)
    assert (end.kind, end.data["reason"]) == ("agent_run_failed", "denials_exhausted")


def denials(desk: Desk, asked: Accepted) -> list[Entry]:
    return [entry for entry in desk.entries(asked) if entry.kind == "tool_ended"]


@pytest.mark.req("BND-009")
def test_a_fourth_tool_is_denied_without_a_word_but_beside_a_call_that_ran(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    invented = "".join(f'call: invented_{n} {{"of": "{mark}"}}\n' for n in range(4))
    look = 'call: search_about {"question": "limits"}\n'
    asked = desk.answered(f"{invented}{look}then:\nsay: Well\n")
    *denied, ran = told(desk, mark)
    assert ["reason" in view for view in denied] == [True, True, True, False]
    assert "reason" not in ran
    assert desk.ended(asked).kind == "agent_run_completed"


@pytest.mark.req("ENG-002")
def test_results_reach_the_model_in_the_order_of_their_calls(desk: Desk) -> None:
    """Denials are journaled last, and still stand where their calls were made."""
    mark = secrets.token_hex(8)
    asked = desk.answered(
        f'call: invented {{"of": "{mark}"}}\ncall: search_about {{"question": "limits"}}\n'
        "then:\nsay: Well\n"
    )
    assert outcomes(desk, asked) == ["success", "denied"]
    messages = desk.requests(mark)[-1]["messages"]
    (calls,) = [message["tool_calls"] for message in messages if message.get("tool_calls")]
    results = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert results == [call["id"] for call in calls]


@pytest.mark.req("BND-019", "BND-022")
def test_failing_three_times_at_the_same_input_ends_the_turn_in_plain_words(desk: Desk) -> None:
    missing = f'call: read_artifact {{"artifact_id": "{uuid4()}"}}\nthen:\n'
    asked = desk.ask(f"{missing * 4}say: Never\n", agent=reader(desk))
    end = desk.ended(asked)
    assert (end.kind, end.data["reason"]) == ("agent_run_failed", "repeated_tool_failure")
    assert outcomes(desk, asked) == ["error"] * 3
    assert "What you asked for was not done." in end.data["message"]


@pytest.mark.req("REG-037")
def test_each_call_names_the_frozen_offer_it_came_from(desk: Desk) -> None:
    look = 'call: search_about {"question": "limits"}\n'
    asked = desk.answered(f"{look}{look}then:\n{look}then:\nsay: Done\n")
    started = [entry.hidden for entry in desk.entries(asked) if entry.kind == "tool_started"]
    first, sibling, later = [hidden["snapshot"] for hidden in started]
    assert first == sibling
    assert later["id"] != first["id"]
    assert "search_about" in first["offered"]

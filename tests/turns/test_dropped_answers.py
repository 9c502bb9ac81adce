"""Answers that are not taken: blank ones, cut ones, and those that run into a rule of ours."""

import secrets

import pytest

from agents.conversations.inputs import Accepted
from agents.gateway.models import ModelCall
from tests.turns.conftest import Desk

pytestmark = pytest.mark.stack


def texts(desk: Desk, asked: Accepted, kind: str) -> list[str]:
    """What people see of a kind, in order."""
    return [entry.data["text"] for entry in desk.entries(asked) if entry.kind == kind]


@pytest.mark.req("ENG-005", "ENG-011")
def test_a_blank_answer_is_asked_for_again_and_leaves_no_trace_in_the_history(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    asked = desk.answered(f"fault: empty times 2\nsay: Here {mark}\n")
    assert desk.ended(asked).kind == "agent_run_completed"
    first, second, third = desk.requests(mark)
    assert first["messages"] == second["messages"] == third["messages"]
    rows = ModelCall.objects.filter(run_id=asked.run_id)
    assert [row.step for row in rows] == [1, 1, 1]


@pytest.mark.req("ENG-014", "ENG-010", "ENG-015")
def test_a_model_that_keeps_replying_with_nothing_fails_the_turn_in_plain_words(
    desk: Desk,
) -> None:
    mark = secrets.token_hex(8)
    asked = desk.answered(f"fault: empty\nsay: Never {mark}\n")
    end = desk.ended(asked)
    assert (end.kind, end.data["reason"]) == (
        "agent_run_failed",
        "provider_empty_response_exhausted",
    )
    assert "nothing" in end.data["message"]
    assert len(desk.requests(mark)) == 4


@pytest.mark.req("ENG-006", "ENG-007")
def test_thinking_alone_is_no_answer_and_stays_shown(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    asked = desk.answered(f"think: Hm {mark}\n")
    assert desk.ended(asked).data["reason"] == "provider_empty_response_exhausted"
    assert texts(desk, asked, "thinking") == [f"Hm {mark}"] * 4


@pytest.mark.req("ENG-006", "ENG-007", "ENG-009")
def test_a_break_after_thinking_is_repeated_with_the_same_request(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    asked = desk.answered(f"think: Hm {mark}\nfault: cut times 1\nsay: Here\n")
    broken, whole = desk.requests(mark)
    assert broken["messages"] == whole["messages"]
    assert desk.ended(asked).kind == "agent_run_completed"
    assert texts(desk, asked, "thinking") == [f"Hm {mark}" * 2]


@pytest.mark.req("ENG-003")
def test_a_cut_batch_is_told_to_the_model_and_not_run(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    asked = desk.answered(
        f'call: search_about {{"question": "{mark}"}}\nfault: length\nthen:\nsay: Shorter\n'
    )
    (result,) = [entry for entry in desk.entries(asked) if entry.kind == "tool_ended"]
    assert result.data["outcome"] == "error"
    messages = desk.requests(mark)[-1]["messages"]
    assert "output limit" in messages[-1]["content"]
    assert desk.ended(asked).kind == "agent_run_completed"


@pytest.mark.req("ENG-004")
def test_a_length_stop_before_anything_was_said_is_continued_once(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    asked = desk.answered(f"think: Much {mark}\nfault: length\n")
    first, second = desk.requests(mark)
    assert second["messages"][:-1] == first["messages"]
    assert "output limit" in second["messages"][-1]["content"]
    assert desk.ended(asked).kind == "agent_run_completed"


@pytest.mark.req("ENG-016", "ENG-017")
def test_a_call_written_as_text_is_never_shown_and_asked_for_again(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    asked = desk.answered(f'say: "<tool_call>{{\\"name\\": \\"{mark}\\"}}"\n')
    first, second = desk.requests(mark)
    assert second["messages"][:-1] == first["messages"]
    assert "wrote a tool call as text" in second["messages"][-1]["content"]
    (said,) = texts(desk, asked, "assistant_message")
    assert "tool_call>" not in said
    assert desk.ended(asked).kind == "agent_run_completed"


@pytest.mark.req("REG-031", "REG-033")
def test_an_early_answer_is_held_until_the_required_tool_was_called(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    asked = desk.answered(
        f"```script\nsay: Too early {mark}\n```\nYou must call search_about. {mark}"
    )
    end = desk.ended(asked)
    assert (end.kind, end.data["reason"]) == ("agent_run_failed", "required_tool_blocked")
    assert texts(desk, asked, "assistant_message") == []
    assert "search_about" in desk.requests(mark)[-1]["messages"][-1]["content"]


@pytest.mark.req("REG-033")
def test_the_required_call_sets_the_turn_free(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    asked = desk.answered(
        f'```script\ncall: search_about {{"question": "{mark}"}}\nthen:\nsay: Found\n```\n'
        "You must call search_about."
    )
    assert desk.ended(asked).kind == "agent_run_completed"
    assert texts(desk, asked, "assistant_message") == ["Found"]

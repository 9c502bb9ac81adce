"""A turn from input to answer: what is journaled, in which order, in one commit."""

import json
import secrets
from collections.abc import Callable

import pytest

from agents.conversations.models import Input
from agents.gateway.models import ModelCall
from agents.journal import replay
from agents.journal.frames import TERMINALS
from agents.members.models import Member
from agents.turns.models import Turn
from audit.models import AuditEvent
from tests.turns.conftest import Desk
from tools.effects.models import RunClaim

pytestmark = pytest.mark.stack


@pytest.mark.req("CFG-004", "ENG-020")
def test_an_answer_is_journaled_with_its_one_terminal(desk: Desk) -> None:
    asked = desk.answered("think: Let me see\nsay: Hello there\nusage: 20 9\n")
    accepted, started, thought, said, end = desk.entries(asked)
    assert [accepted.kind, started.kind, thought.kind, said.kind, end.kind] == [
        "input_accepted",
        "agent_run_started",
        "thinking",
        "assistant_message",
        "agent_run_completed",
    ]
    assert started.data["model"] == "scripted"
    assert thought.data == {"text": "Let me see", "segment": 0}
    assert said.data == {"text": "Hello there", "segment": 0}
    assert end.data == {
        "reason": None,
        "usage": {
            "input_tokens": 20,
            "output_tokens": 9,
            "total_tokens": 29,
            "context_tokens": 20,
            "context_window": end.data["usage"]["context_window"],
        },
    }
    assert {entry.input_id for entry in desk.entries(asked)} == {asked.input_id}


def test_everything_agrees_about_the_end(desk: Desk) -> None:
    asked = desk.answered("say: Hello\n")
    turn = Turn.objects.get(id=asked.run_id)
    claim = RunClaim.objects.get(run_id=asked.run_id)
    assert (turn.terminal, turn.reason, turn.ended_at is not None) == ("completed", "", True)
    assert Input.objects.get(id=asked.input_id).status == "completed"
    assert (claim.state, claim.attempts, claim.lease_until) == ("settled", 1, None)
    assert turn.snapshot["controller"] == {"id": "tomo", "version": 1}
    assert turn.snapshot["agent_digest"] == turn.agent_version.digest


@pytest.mark.req("ENG-020")
def test_no_reader_ever_sees_an_answer_without_its_terminal(
    desk_of: Callable[[Member], Desk], alice: Member
) -> None:
    desks = [desk_of(alice) for _ in range(25)]
    asked = {desk.ask(f"tokens: {20 + n} @ 200/s\n").run_id: desk for n, desk in enumerate(desks)}
    open_runs, looks, half = set(asked), 0, []
    while open_runs:
        for run_id in list(open_runs):
            kinds = [entry.kind for entry in replay.of_run(run_id)]
            ended = bool(set(kinds) & set(TERMINALS))
            looks += 1
            if ended != ("assistant_message" in kinds):
                half.append(kinds)
            if ended:
                open_runs.discard(run_id)
    assert half == []
    assert looks > len(asked)  # it looked while turns were open


@pytest.mark.req("AUD-005", "AUD-006", "STR-012")
def test_each_model_call_has_one_row_and_no_text(desk: Desk) -> None:
    word = secrets.token_hex(8)
    asked = desk.answered(
        f'say: {word}\ncall: search_about {{"question": "{word}"}}\nusage: 7 3\n'
        f"then:\nsay: {word} again\nusage: 11 5\n"
    )
    rows = ModelCall.objects.filter(run_id=asked.run_id).order_by("step")
    assert [
        (row.step, row.attempt, row.outcome, row.prompt_tokens, row.completion_tokens)
        for row in rows
    ] == [(1, 1, "tool_calls", 7, 3), (2, 1, "complete", 11, 5)]
    audit = AuditEvent.objects.filter(run_id=asked.run_id)
    assert word not in str(list(rows.values())) + str(list(audit.values()))
    end = desk.ended(asked)
    told = end.data["usage"]
    assert (told["input_tokens"], told["output_tokens"], told["total_tokens"]) == (18, 8, 26)
    assert told["context_tokens"] == 11


@pytest.mark.req("AUD-001", "AUD-003")
def test_each_privileged_step_is_recorded_once(desk: Desk) -> None:
    asked = desk.answered('call: search_about {"question": "limits"}\nthen:\nsay: Done\n')
    rows = AuditEvent.objects.filter(run_id=asked.run_id).order_by("at")
    agent = str(Input.objects.get(id=asked.input_id).agent_id)
    assert [(row.action, row.actor, row.outcome, row.reason) for row in rows] == [
        ("tool_called", f"agent:{agent}", "success", ""),
        ("turn_ended", desk.member.principal, "success", ""),
    ]


def test_the_second_message_waits_for_the_first(desk: Desk) -> None:
    first = desk.ask("tokens: 20 @ 20/s\n")
    second = desk.ask("say: Second\n")
    ended = desk.ended(second)
    assert desk.ended(first).position < desk.seen(second, ["agent_run_started"]).position
    assert ended.position == replay.head(desk.conversation.id)


def test_history_keeps_each_answer_with_its_question(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    desk.ask(f"wait: 0.4\nsay: First {mark}\n")
    desk.ask(f"say: Second {mark}\n")
    desk.answered(f"say: Third {mark}\n")
    messages = desk.requests(f"Third {mark}")[-1]["messages"]
    assert [(message["role"], message["content"].split()[-2]) for message in messages[1:]] == [
        ("user", "First"),
        ("assistant", "First"),
        ("user", "Second"),
        ("assistant", "Second"),
        ("user", "Third"),
    ]
    assert messages[0]["role"] == "system"
    assert [message["role"] for message in messages].count("system") == 1


def test_a_tool_step_is_told_to_the_model_with_its_result(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    asked = desk.answered(
        f"say: Looking {mark}\n"
        f'call: search_about {{"question": "{mark}"}}\ncall: list_available_agents {{}}\n'
        "then:\nsay: Found it\n"
    )
    assert desk.kinds(asked) == [
        "input_accepted",
        "agent_run_started",
        "assistant_message",
        "tool_started",
        "tool_started",
        "tool_ended",
        "tool_ended",
        "assistant_message",
        "agent_run_completed",
    ]
    said, calls, *results = desk.requests(mark)[-1]["messages"][1:]
    assert said["role"] == "user"
    assert calls["content"] == f"Looking {mark}"
    asked_for = [call["id"] for call in calls["tool_calls"]]
    assert sorted(result["tool_call_id"] for result in results) == sorted(asked_for)
    assert len(set(asked_for)) == 2
    assert {result["role"] for result in results} == {"tool"}


def test_a_written_artifact_names_the_call_that_made_it(desk: Desk) -> None:
    asked = desk.answered(
        'call: create_artifact {"title": "Plan", "kind": "markdown", "content": "# Plan"}\n'
        "then:\nsay: Saved\n"
    )
    (call,) = [entry for entry in desk.entries(asked) if entry.kind == "tool_started"]
    (saved,) = [entry for entry in desk.entries(asked) if entry.kind == "artifact_saved"]
    (result,) = [entry for entry in desk.entries(asked) if entry.kind == "tool_ended"]
    assert result.data["call_id"] == call.data["call_id"]
    assert (result.data["outcome"], saved.data["title"]) == ("success", "Plan")
    assert result.position < saved.position
    actions = AuditEvent.objects.filter(run_id=asked.run_id).values_list("action", flat=True)
    assert sorted(actions) == [
        "artifact_created",
        "tool_authorised",
        "tool_called",
        "turn_ended",
    ]


def test_a_cut_answer_is_kept_and_says_so(desk: Desk) -> None:
    asked = desk.answered("say: As far as it goes\nfault: length\n")
    end = desk.ended(asked)
    assert (end.kind, end.data["reason"]) == ("agent_run_salvaged", "output_truncated")
    assert "length limit" in end.data["message"]
    assert Input.objects.get(id=asked.input_id).status == "salvaged"


def test_text_that_cannot_be_stored_does_not_cost_the_answer(desk: Desk) -> None:
    asked = desk.answered('think: "so\\u0000"\nsay: "before \\u0000 after"\n')
    assert desk.ended(asked).kind == "agent_run_completed"
    texts = [entry.data["text"] for entry in desk.entries(asked) if "text" in entry.data]
    assert texts == ["so\ufffd", "before \ufffd after"]


def test_a_tool_name_that_cannot_be_stored_is_an_unknown_tool(desk: Desk) -> None:
    call = {"index": 0, "id": "c\0", "function": {"name": "sea\0rch", "arguments": "{}"}}
    chunk = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}
    frame = f"data: {json.dumps(chunk)}\n\n"
    asked = desk.answered(f"raw: {json.dumps(frame)}\nthen:\nsay: Well\n")
    (result,) = [entry for entry in desk.entries(asked) if entry.kind == "tool_ended"]
    assert result.data["outcome"] == "denied"
    assert desk.ended(asked).kind == "agent_run_completed"

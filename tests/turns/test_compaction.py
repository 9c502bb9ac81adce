"""Summing up: when it is time, when a member asks, and what the model reads afterwards."""

import secrets
from typing import Any
from uuid import uuid4

import pytest

from agents.conversations import inputs, steers
from agents.conversations.inputs import Accepted
from agents.conversations.models import Input
from agents.gateway.models import Deployment, ModelCall
from agents.turns.compaction import fitted, rendered
from audit.refusals import Conflict
from tests.patience import until
from tests.turns.conftest import Desk

stack = pytest.mark.stack


def sum_up(desk: Desk) -> Accepted:
    return inputs.compact(
        member=desk.member, conversation_id=desk.conversation.id, key=secrets.token_hex(8)
    )


def asked_of_model(desk: Desk, mark: str) -> list[dict[str, Any]]:
    """What the model was sent with this mark last, the system prompt aside."""
    messages: list[dict[str, Any]] = desk.requests(mark)[-1]["messages"]
    return messages[1:]


@stack
def test_a_member_has_a_conversation_summed_up(desk: Desk) -> None:
    word, mark = secrets.token_hex(8), secrets.token_hex(8)
    desk.answered(f"say: {word} is the answer\n")
    accepted = sum_up(desk)
    end = desk.ended(accepted)
    assert desk.kinds(accepted) == [
        "input_accepted",
        "agent_run_started",
        "compaction",
        "agent_run_completed",
    ]
    assert Input.objects.get(id=accepted.input_id).status == "completed"
    entry = desk.seen(accepted, ["compaction"])
    summary = entry.hidden["summary"]
    assert word in summary
    assert entry.data == {
        "state": "done",
        "summary_characters": len(summary),
        "before_tokens": entry.data["before_tokens"],
        "after_tokens": entry.data["after_tokens"],
        "by": "member",
    }
    assert end.data["usage"]["output_tokens"] > 0
    calls = ModelCall.objects.filter(run_id=accepted.run_id)
    assert [(call.purpose, call.outcome) for call in calls] == [("compaction", "complete")]
    desk.answered(f"say: {mark}\n")
    assert asked_of_model(desk, mark) == [
        {"role": "user", "content": f"say: {word} is the answer\n"},
        {"role": "assistant", "content": f"Summary of what was said before:\n\n{summary}"},
        {"role": "user", "content": f"say: {mark}\n"},
    ]


@stack
def test_a_run_that_sums_up_cannot_be_told_anything(desk: Desk) -> None:
    gate = secrets.token_hex(8)
    stopped = desk.ask(f"```script\nsay: One.\nhold: {gate}\n```\n")
    desk.seen(stopped, ["agent_run_started"])
    desk.stop()
    desk.ended(stopped)
    accepted = sum_up(desk)  # the summary is asked with the script in it, and is held
    desk.seen(accepted, ["agent_run_started"])
    with pytest.raises(Conflict):
        steers.accept(
            member=desk.member,
            conversation_id=desk.conversation.id,
            turn_id=accepted.run_id,
            message="Shorter.",
            key="k",
        )
    desk.stack.release(gate)
    assert desk.ended(accepted).kind == "agent_run_completed"


@stack
def test_a_summary_that_fails_says_so_and_takes_nothing_away(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    failed = desk.ask("```script\nfault: status 400\n```\n")
    desk.ended(failed)
    accepted = sum_up(desk)
    end = desk.ended(accepted)
    assert (end.kind, end.data["reason"]) == ("agent_run_failed", "provider_refused")
    desk.answered(f"say: {mark}\n")
    assert [message["role"] for message in asked_of_model(desk, mark)] == ["user", "user"]


@pytest.fixture
def small(desk: Desk) -> Deployment:
    """The scripted model, with a window of which history may take 5,376 characters."""
    usual = Deployment.objects.get(name="scripted")
    return Deployment.objects.create(
        id=uuid4(),
        name=f"small {secrets.token_hex(4)}",
        base_url=usual.base_url,
        model="scripted",
        tool_calls="native",
        enabled=True,
        context_window=3_072,
        max_output_tokens=896,
    )


@stack
def test_a_conversation_that_fills_the_window_is_summed_up_before_the_next_answer(
    desk: Desk, small: Deployment
) -> None:
    word, mark = secrets.token_hex(8), secrets.token_hex(8)
    first = desk.answered(f"say: {word}\ntokens: 1000\n", deployment_id=small.id)
    assert "compaction" not in desk.kinds(first)
    second = desk.answered(f"say: {mark}\n", deployment_id=small.id)
    kinds = desk.kinds(second)
    assert kinds.index("compaction") < kinds.index("assistant_message")
    assert kinds.count("compaction") == 1
    entry = desk.seen(second, ["compaction"])
    assert entry.data["by"] == "automatic"
    assert word in desk.requests(word)[1]["messages"][1]["content"]
    assert entry.data["after_tokens"] < entry.data["before_tokens"]
    assert asked_of_model(desk, mark)[-1] == {"role": "user", "content": f"say: {mark}\n"}
    assert entry.hidden["summary"] in asked_of_model(desk, mark)[-2]["content"]


@stack
def test_a_turn_that_fills_the_window_is_summed_up_between_two_steps(
    desk: Desk, small: Deployment
) -> None:
    word = secrets.token_hex(8)
    script = (
        f"say: {word}\ntokens: 1000\n"
        'call: search_about {"question": "limits"}\n'
        "then:\nsay: Done.\n"
    )
    turn = desk.ask(script, deployment_id=small.id)
    desk.seen(turn, ["compaction"])
    kinds = desk.kinds(turn)
    assert kinds.index("tool_ended") < kinds.index("compaction")
    until(lambda: len(desk.requests(word)) > 2, "the next step is asked for")
    after = desk.requests(word)[2]["messages"]
    assert [message["role"] for message in after] == ["system", "assistant", "user"]
    desk.stop()
    desk.ended(turn)


def test_the_conversation_is_told_as_text() -> None:
    call = {"function": {"name": "look", "arguments": '{"at":1}'}}
    assert rendered(
        [
            {"role": "user", "content": "Where?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "There."},
            {"role": "assistant", "content": "There."},
        ]
    ) == [
        "Person: Where?",
        'Assistant: (calls look with {"at":1})',
        "Result: There.",
        "Assistant: There.",
    ]


def test_the_oldest_is_left_out_where_it_does_not_fit() -> None:
    assert fitted(["a" * 20, "b" * 20, "c" * 20], 100) == ["a" * 20, "b" * 20, "c" * 20]
    assert fitted([letter * 10 for letter in "abcde"], 40) == ["c" * 10, "d" * 10, "e" * 10]
    assert fitted(["a", "x" * 500], 100) == ["a", "x" * 21 + " […]"]
    assert fitted(["x" * 50], 4) == ["x […]"]

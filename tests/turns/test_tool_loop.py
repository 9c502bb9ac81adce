"""Models that go round in circles, mix up ids, invent tools or read too much: whole turns."""

import json
from typing import Any
from uuid import uuid4

import pytest

from agents.conversations.inputs import Accepted
from agents.gateway.models import ModelCall
from artifacts.models import Artifact
from artifacts.writing import Draft, create
from audit.models import AuditEvent
from audit.reasons import Action
from tests.turns.conftest import Desk
from tools.boundary.projection import MODEL_VIEW

pytestmark = pytest.mark.stack


def executed(accepted: Accepted) -> int:
    """Calls of the run that reached a tool."""
    return AuditEvent.objects.filter(run_id=accepted.run_id, action=Action.TOOL_CALLED).count()


def asked(accepted: Accepted) -> int:
    """How often the model was called."""
    return ModelCall.objects.filter(run_id=accepted.run_id).count()


def results(desk: Desk, accepted: Accepted) -> list[dict[str, Any]]:
    ended = [entry.data for entry in desk.entries(accepted) if entry.kind == "tool_ended"]
    return sorted(ended, key=lambda data: data["call_id"])


def last_request(desk: Desk, word: str) -> list[dict[str, Any]]:
    """The messages the model was sent last, of the turn with a word of its own."""
    return desk.requests(word)[-1]["messages"]


def looking(subject: str) -> str:
    return f'call: search_about {{"question": "{subject}"}}'


def fragment(index: int, call_id: str, subject: str, finish: str | None = None) -> str:
    """One chunk with a whole call, exactly as it goes over the wire, as a line of a script."""
    function = {"name": "search_about", "arguments": json.dumps({"question": subject})}
    call = {"index": index, "id": call_id, "type": "function", "function": function}
    choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": finish}
    return "raw: " + json.dumps(f"data: {json.dumps({'choices': [choice]})}\n\n")


def test_the_third_equal_failure_ends_the_turn_whatever_is_said_around_it(desk: Desk) -> None:
    missing = f'call: read_artifact {{"artifact_id": "{uuid4()}"}}'
    says = ("First try.", "Perhaps now?", "Once more!", "And again.")
    accepted = desk.ask("\nthen:\n".join(f"say: {words}\n{missing}" for words in says))
    ended = desk.ended(accepted)
    assert (ended.kind, ended.data["reason"]) == ("agent_run_failed", "repeated_tool_failure")
    assert executed(accepted) == 3
    assert asked(accepted) == 3
    assert {result["outcome"] for result in results(desk, accepted)} == {"error"}


def test_two_equal_creations_in_one_batch_are_two_things(desk: Desk) -> None:
    title = uuid4().hex
    draft = {"title": title, "kind": "markdown", "content": "# Twice"}
    call = f"call: create_artifact {json.dumps(draft)}"
    accepted = desk.ask(f"{call}\n{call}\nthen:\nsay: Two made.")
    assert desk.ended(accepted).kind == "agent_run_completed"
    assert executed(accepted) == 2
    assert Artifact.objects.filter(title=title).count() == 2


@pytest.mark.parametrize("index", [1, 0])
def test_one_id_for_all_calls_still_means_three_calls(desk: Desk, index: int) -> None:
    word = uuid4().hex
    first = f"{fragment(0, 'K', 'keyboard shortcuts')}\n{fragment(index, 'K', 'sharing agents')}"
    second = fragment(0, "K", "stopping an answer")
    script = f"{first}\nfinish: tool_calls\nthen:\n{second}\nfinish: tool_calls\nthen:\nsay: done"
    accepted = desk.ask(f"{script} {word}")
    assert desk.ended(accepted).kind == "agent_run_completed"
    assert executed(accepted) == 3
    messages = last_request(desk, word)
    calls = [call for message in messages for call in message.get("tool_calls", ())]
    told = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    subjects = [json.loads(call["function"]["arguments"])["question"] for call in calls]
    assert subjects == ["keyboard shortcuts", "sharing agents", "stopping an answer"]
    ids = [call["id"] for call in calls]
    assert len(set(ids)) == 3
    assert set(told) == set(ids)
    assert len(set(told.values())) == 3  # each its own result


def test_a_slip_of_the_name_is_read_back_and_put_right(desk: Desk) -> None:
    slip = 'call: serach_about {"question": "keyboard shortcuts"}'
    right = looking("keyboard shortcuts")
    accepted = desk.ask(f"{slip}\nthen:\n{right}\nthen:\nsay: ok")
    assert desk.ended(accepted).kind == "agent_run_completed"
    assert [result["outcome"] for result in results(desk, accepted)] == ["denied", "success"]
    assert (executed(accepted), asked(accepted)) == (1, 3)


def test_the_fourth_invented_name_ends_the_turn(desk: Desk) -> None:
    script = "\nthen:\n".join(f"call: t{number} {{}}" for number in range(1, 6))
    accepted = desk.ask(script)
    ended = desk.ended(accepted)
    assert (ended.kind, ended.data["reason"]) == ("agent_run_failed", "denials_exhausted")
    assert (executed(accepted), asked(accepted)) == (0, 4)


def test_large_results_of_one_step_fit_into_the_next_request(desk: Desk) -> None:
    word = uuid4().hex
    lines = "\n".join(f"line {number} " + "x" * 90 for number in range(900))
    kept = [
        create(actor=desk.member, draft=Draft(f"Long {number}", "markdown", lines)).artifact_id
        for number in range(3)
    ]
    calls = "\n".join(f'call: read_artifact {{"artifact_id": "{each}"}}' for each in kept)
    accepted = desk.ask(f"{calls}\nthen:\nsay: summary {word}")
    assert desk.ended(accepted).kind == "agent_run_completed"
    messages = last_request(desk, word)
    told = [message["content"] for message in messages if message["role"] == "tool"]
    assert len(told) == 3
    assert all(len(text.encode()) <= MODEL_VIEW for text in told)
    calls_sent = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert calls_sent == [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    # What was left out is named, so that the model can ask for it.
    assert all("900" in text for text in told)
    again = desk.ask(f"say: and again {word}")
    assert desk.ended(again).kind == "agent_run_completed"

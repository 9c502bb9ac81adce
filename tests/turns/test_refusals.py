"""Turns that may not run, and providers that fail: one terminal, in plain words of ours."""

import secrets
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from guardian.shortcuts import assign_perm, remove_perm

from agents.conversations import keeping
from agents.conversations.inputs import Accepted
from agents.definitions import versions
from agents.gateway.models import Deployment, ModelCall
from agents.members.models import Member
from agents.turns import words
from audit.models import AuditEvent
from audit.reasons import Reason
from tests.turns.conftest import Desk

pytestmark = pytest.mark.stack
BUSY = "wait: 0.8\nsay: First\n"


def failed(desk: Desk, asked: Accepted) -> tuple[str, str]:
    """Reason and words of a turn that failed."""
    end = desk.ended(asked)
    assert end.kind == "agent_run_failed"
    return end.data["reason"], end.data["message"]


def told(reason: Reason) -> tuple[str, str]:
    return str(reason), words.MESSAGES[reason]


def queued_behind(desk: Desk, **more: Any) -> Accepted:
    """A message that waits while something may still change."""
    desk.ask(BUSY)
    return desk.ask("say: Not said\n", **more)


def test_a_model_switched_off_while_the_message_waited_is_told_as_no_model(desk: Desk) -> None:
    spare = Deployment.objects.create(
        id=uuid4(),
        name=f"spare {secrets.token_hex(4)}",
        base_url=f"http://127.0.0.1:{desk.stack.model_port}/v1",
        model="scripted",
        enabled=True,
    )
    asked = queued_behind(desk, deployment_id=spare.id)
    Deployment.objects.filter(id=spare.id).update(enabled=False)
    assert failed(desk, asked) == told(Reason.MODEL_UNAVAILABLE)
    assert desk.kinds(asked) == ["input_accepted", "agent_run_failed"]
    rows = AuditEvent.objects.filter(run_id=asked.run_id)
    assert [(row.action, row.outcome, row.reason) for row in rows] == [
        ("turn_ended", "error", "model_unavailable")
    ]


def test_an_agent_unshared_while_the_message_waited_is_not_used(desk: Desk, bob: Member) -> None:
    content = {"name": f"Shared {secrets.token_hex(4)}", "persona": "You help."}
    agent = versions.create(actor=bob, content=content).agent
    assign_perm("definitions.use_agent", desk.member, agent)
    asked = queued_behind(desk, agent=str(agent.id))
    remove_perm("definitions.use_agent", desk.member, agent)
    assert failed(desk, asked) == told(Reason.AGENT_UNAVAILABLE)
    assert not ModelCall.objects.filter(run_id=asked.run_id).exists()


def test_a_person_switched_off_while_the_message_waited_gets_no_turn(desk: Desk) -> None:
    asked = queued_behind(desk)
    Member.objects.filter(pk=desk.member.pk).update(is_active=False)
    assert failed(desk, asked) == told(Reason.ACCOUNT_INACTIVE)


def test_a_deleted_conversation_ends_its_turns(desk: Desk) -> None:
    running = desk.ask("tokens: 9000 @ 50/s\n")
    desk.seen(running, ["agent_run_started"])
    waiting = desk.ask("say: Not said\n")
    keeping.delete(member=desk.member, conversation_id=desk.conversation.id)
    assert desk.ended(running).kind == "agent_run_cancelled"
    assert desk.ended(waiting).kind in {"agent_run_cancelled", "agent_run_failed"}
    assert not ModelCall.objects.filter(run_id=waiting.run_id).exists()


SECRET = "sk-very-secret-provider-words"
FAULTS = [
    (f"fault: status 400 message {SECRET}", Reason.PROVIDER_REFUSED),
    (f"fault: status 401 message {SECRET}", Reason.PROVIDER_CREDENTIALS),
    (f"say: Begun\nfault: error {SECRET}", None),
    ("say: Begun\nfault: cut", Reason.PROVIDER_CUT_OFF),
    ("say: Begun\nfault: reset", Reason.PROVIDER_CUT_OFF),
    ("fault: html", Reason.PROVIDER_GARBAGE),
    ("say: Begun\nfinish: content_filter", Reason.CONTENT_FILTERED),
    ("fault: empty", Reason.PROVIDER_EMPTY_RESPONSE_EXHAUSTED),
]


@pytest.mark.req("AUD-006")
@pytest.mark.parametrize(("script", "reason"), FAULTS)
def test_a_failing_provider_is_told_in_our_words(
    desk: Desk, script: str, reason: Reason | None
) -> None:
    asked = desk.ask(f"{script}\n")
    code, message = failed(desk, asked)
    if reason is not None:
        assert (code, message) == told(reason)
    assert message == words.for_member(code)
    shown = str([(entry.data, entry.private) for entry in desk.entries(asked)[1:]])
    assert SECRET not in shown
    assert SECRET not in str(list(AuditEvent.objects.filter(run_id=asked.run_id).values()))
    calls = ModelCall.objects.filter(run_id=asked.run_id)
    assert SECRET not in str(list(calls.values()))
    assert calls.filter(outcome="failed").exists() or code.startswith("provider_empty")


def test_a_broken_answer_stays_out_of_the_models_history(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    desk.answered("say: Begun and broken\nfault: cut\n")
    desk.answered(f"say: {mark}\n")
    said = [m["content"] for m in desk.requests(mark)[-1]["messages"] if m["role"] == "assistant"]
    assert said == []


def test_a_provider_that_recovers_costs_nobody_the_answer(desk: Desk) -> None:
    asked = desk.ask("fault: status 503 times 1\n\nsay: Here I am\n")
    assert desk.ended(asked).kind == "agent_run_completed"
    calls = ModelCall.objects.filter(run_id=asked.run_id).order_by("attempt")
    assert [(call.attempt, call.outcome) for call in calls] == [(1, "failed"), (2, "complete")]


@pytest.mark.parametrize("reason", list(words.MESSAGES))
def test_every_sentence_is_plain_and_says_no_code(reason: str) -> None:
    sentence = words.for_member(reason)
    assert sentence.endswith(".")
    assert "_" not in sentence
    assert len(sentence) < 120


def test_an_unknown_reason_has_a_sentence_too() -> None:
    assert words.for_member("something new") == words.GENERAL


def test_a_tool_is_denied_once_the_agent_is_out_of_reach(
    desk_of: Callable[[Member], Desk], alice: Member, bob: Member
) -> None:
    desk = desk_of(alice)
    content = {
        "name": f"Writer {secrets.token_hex(4)}",
        "persona": "You write.",
        "capability_ceiling": "write",
        "posture": {"tools": ["artifacts"]},
    }
    agent = versions.create(actor=bob, content=content).agent
    assign_perm("definitions.use_agent", alice, agent)
    asked = desk.ask(
        'wait: 1\ncall: create_artifact {"title": "T", "kind": "markdown", "content": "c"}\n'
        "then:\nsay: Done\n",
        agent=str(agent.id),
    )
    desk.seen(asked, ["agent_run_started"])
    remove_perm("definitions.use_agent", alice, agent)
    end = desk.ended(asked)
    results = [entry.data for entry in desk.entries(asked) if entry.kind == "tool_ended"]
    # The worker may also learn of it before the call is made, and then ends the turn itself.
    assert results or end.data["reason"] == "agent_unavailable"
    assert {result["outcome"] for result in results} <= {"denied"}
    assert "artifact_saved" not in desk.kinds(asked)

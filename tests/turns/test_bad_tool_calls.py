"""Bad tool calls through a whole turn: each is refused by name and nothing runs."""

from typing import Any
from uuid import uuid4

import pytest

from agents.conversations.inputs import Accepted
from audit.models import AuditEvent
from audit.reasons import Action
from tests.turns.conftest import Desk

pytestmark = pytest.mark.stack

DONE = "then:\nsay: That is all."


def results(desk: Desk, accepted: Accepted) -> list[dict[str, Any]]:
    return [entry.data for entry in desk.entries(accepted) if entry.kind == "tool_ended"]


def told(desk: Desk, accepted: Accepted) -> list[str]:
    """What the model may read of each call."""
    return [
        entry.hidden["model_view"] for entry in desk.entries(accepted) if entry.kind == "tool_ended"
    ]


def executed(accepted: Accepted) -> int:
    """Calls of the run that reached a tool."""
    ran = AuditEvent.objects.filter(run_id=accepted.run_id, action=Action.TOOL_CALLED)
    return ran.count()


@pytest.mark.req("BND-006", "BND-009", "BND-010")
def test_two_hundred_invented_names_run_nothing_and_a_repeated_one_ends_the_turn(
    desk: Desk,
) -> None:
    good = 'call: search_about {"question": "keyboard shortcuts"}'
    steps = [
        "\n".join([*(f"call: invented_{n} {{}}" for n in range(start, start + 50)), good])
        for start in range(0, 200, 50)
    ]
    accepted = desk.ask("\nthen:\n".join([*steps, "call: invented_7 {}", "say: never reached"]))
    ended = desk.ended(accepted)
    outcomes = results(desk, accepted)
    assert len(outcomes) == 205, ended.data
    invented = [outcome for outcome in outcomes if outcome["outcome"] != "success"]
    assert len(invented) == 201
    assert {outcome["outcome"] for outcome in invented} == {"denied"}
    assert {outcome["error_class"] for outcome in invented} == {"not_found"}
    assert executed(accepted) == 4
    assert sum("no tool of this name" in view for view in told(desk, accepted)) == 3
    assert (ended.kind, ended.data["reason"]) == ("agent_run_failed", "denials_exhausted")
    assert "What you asked for was not done" in ended.data["message"]
    assert desk.ended(desk.ask("say: Next.")).kind == "agent_run_completed"


@pytest.mark.req("BND-007", "BND-008", "BND-010")
def test_the_second_denial_of_one_name_ends_the_turn(desk: Desk) -> None:
    call = "call: invented {}"
    accepted = desk.ask(f"{call}\nthen:\n{call}\nthen:\nsay: never reached")
    assert desk.ended(accepted).data["reason"] == "denials_exhausted"
    views = told(desk, accepted)
    assert len(views) == 2
    assert "no tool of this name" in views[0]
    assert "no tool of this name" not in views[1]
    assert executed(accepted) == 0


@pytest.mark.req("REG-037")
def test_a_registered_tool_that_is_not_offered_is_refused_like_an_invented_one(
    desk: Desk,
) -> None:
    accepted = desk.ask(f'call: tool_search {{"query": "anything"}}\n{DONE}')
    assert desk.ended(accepted).kind == "agent_run_completed"
    (result,) = results(desk, accepted)
    assert (result["outcome"], result["error_class"]) == ("denied", "not_found")
    assert executed(accepted) == 0


@pytest.mark.parametrize(
    "raw",
    [
        '{"question": "a b", "question": "c d"}',
        '{"question": NaN}',
        '{"question": "nul \\\\u0000"}',
        '{"question": "half \\\\ud800"}',
        '{"question": ' + "[" * 100 + "]" * 100 + "}",
        '{"question": "x"',
        '["question"]',
        '{"question": 7}',
        '{"question": "long ' + "x" * 300 + '"}',
        '{"question": "a b", "member_id": "7"}',
        "{}",
    ],
    ids=lambda raw: raw[:20],
)
def test_arguments_that_cannot_be_are_refused_and_the_turn_goes_on(desk: Desk, raw: str) -> None:
    raw = raw.replace("\\\\u", "\\u")
    accepted = desk.ask(f"call-raw: search_about {raw}\n{DONE}")
    ended = desk.ended(accepted)
    assert ended.kind == "agent_run_completed", ended.data
    (result,) = results(desk, accepted)
    assert (result["outcome"], result["error_class"]) == ("denied", "invalid_argument")
    assert '"reason":"invalid_arguments"' in told(desk, accepted)[0]
    assert executed(accepted) == 0


@pytest.mark.req("BND-010")
def test_a_bad_call_beside_a_good_one_leaves_the_good_one_alone(desk: Desk) -> None:
    bad = 'call-raw: search_about {"question": NaN}\ncall: invented {}'
    good = 'call: search_about {"question": "keyboard shortcuts"}'
    accepted = desk.ask(f"{bad}\n{good}\n{DONE}")
    assert desk.ended(accepted).kind == "agent_run_completed"
    outcomes = {result["call_id"]: result["outcome"] for result in results(desk, accepted)}
    assert [outcomes[call_id] for call_id in sorted(outcomes)] == ["denied", "denied", "success"]
    assert executed(accepted) == 1


@pytest.mark.req("BND-025")
def test_the_class_of_a_failure_is_in_the_frame_and_in_the_journal(desk: Desk) -> None:
    missing = f'call: read_artifact {{"artifact_id": "{uuid4()}"}}'
    wrong = "call: read_artifact {}"
    accepted = desk.ask(f"{missing}\n{wrong}\n{DONE}")
    assert desk.ended(accepted).kind == "agent_run_completed"
    entries = [entry for entry in desk.entries(accepted) if entry.kind == "tool_ended"]
    classes = {entry.data["call_id"]: entry.data["error_class"] for entry in entries}
    assert [classes[call_id] for call_id in sorted(classes)] == ["not_found", "invalid_argument"]
    for entry in entries:
        assert entry.hidden["facts"]["error_class"] == entry.data["error_class"]
        assert entry.data["failure_domain"] == "tool"


@pytest.mark.req("BND-035", "BND-040")
def test_saving_the_same_again_in_a_later_step_saves_once(desk: Desk) -> None:
    save = 'call: create_artifact {"title": "Plan", "kind": "text", "content": "once"}'
    accepted = desk.ask(f"{save}\n{save}\nthen:\n{save}\n{DONE}")
    assert desk.ended(accepted).kind == "agent_run_completed"
    kinds = desk.kinds(accepted)
    assert kinds.count("tool_ended") == 3
    assert kinds.count("artifact_saved") == 2  # siblings of one step, then nothing more
    assert [result["outcome"] for result in results(desk, accepted)] == ["success"] * 3
    assert results(desk, accepted)[2]["result"]["repeat_suppressed"] is True

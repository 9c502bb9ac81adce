"""The guardrails of a run: which stand where, and that no controller gets past them."""

import pytest

from agents.engine import bounds
from agents.guardrails import chain
from agents.guardrails.builtin import budgets, citations, loops
from agents.guardrails.builtin.budgets import REQUESTS
from agents.guardrails.builtin.loops import SAME_BATCHES
from agents.guardrails.chain import Guard
from agents.guardrails.facts import Tripped
from audit.reasons import Reason

SECRET = "sk-" + "aB3-" * 8
HELLO = [{"role": "user", "content": "Hello"}]


@pytest.mark.req("GRD-001")
def test_each_point_has_its_guardrails_in_this_order() -> None:
    assert (budgets.before_model,) == chain.BEFORE_MODEL
    assert (budgets.before_tools, loops.before_tools) == chain.BEFORE_TOOLS
    assert [each.__name__ for each in chain.AFTER_MODEL] == ["cleaned", "_redacted"]
    assert chain.AFTER_MODEL == chain.BEFORE_SETTLE
    assert chain.AFTER_MODEL[0] is citations.cleaned


@pytest.mark.req("GRD-003", "GRD-001")
def test_a_controller_that_never_stops_asking_is_stopped() -> None:
    guard = Guard(["Hello"])
    for _ in range(bounds.MAX_MODEL_STEPS):
        guard.before_model(HELLO)
        guard.answered(blank=False)
    with pytest.raises(Tripped) as tripped:
        guard.before_model(HELLO)
    assert tripped.value.reason is Reason.STEP_LIMIT


@pytest.mark.req("GRD-003")
def test_blank_answers_are_bounded_too() -> None:
    guard = Guard(["Hello"])
    for _ in range(REQUESTS):
        guard.before_model(HELLO)
        guard.answered(blank=True)
    with pytest.raises(Tripped):
        guard.before_model(HELLO)


@pytest.mark.req("GRD-003", "GRD-001")
def test_a_controller_that_never_stops_calling_is_stopped() -> None:
    guard = Guard(["Hello"])
    for number in range(bounds.MAX_TOOL_ROUNDS):
        guard.before_tools([("look", f'{{"page":{number}}}')])
    with pytest.raises(Tripped) as tripped:
        guard.before_tools([("look", '{"page":99}')])
    assert tripped.value.reason is Reason.TOOL_ROUND_LIMIT


@pytest.mark.req("GRD-001")
def test_the_same_calls_in_a_row_are_a_circle() -> None:
    guard = Guard(["Hello"])
    same, other = [("look", '{"page":1}')], [("look", '{"page":2}')]
    for batch in (same, same, other, *[same] * SAME_BATCHES):
        guard.before_tools(batch)
    with pytest.raises(Tripped):
        guard.before_tools(same)


def test_a_run_that_is_taken_over_goes_on_counting() -> None:
    guard = Guard(["Hello"], steps=bounds.MAX_MODEL_STEPS, rounds=bounds.MAX_TOOL_ROUNDS)
    with pytest.raises(Tripped):
        guard.before_model(HELLO)
    with pytest.raises(Tripped):
        guard.before_tools([("look", "{}")])


@pytest.mark.req("GRD-012")
def test_a_model_reads_no_credential_and_the_past_is_left_as_it_is() -> None:
    past = [
        {"role": "system", "content": f"You hold {SECRET}."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "tool_call_id": "1", "content": f'{{"key":"{SECRET}"}}'},
        {"role": "user", "content": [{"type": "text", "text": f"see {SECRET}"}]},
    ]
    sent = Guard(["Hello"]).before_model(past)
    assert SECRET not in str(sent)
    assert str(sent).count("[redacted]") == 3
    assert str(past).count(SECRET) == 3
    assert sent[1] is past[1]
    assert sent[2] is past[2]


@pytest.mark.req("GRD-012")
def test_people_read_no_credential_live_kept_or_in_arguments() -> None:
    guard = Guard(["Hello"])
    pieces = [f"the key is {SECRET} ", "and ", "that is it"]
    live = "".join(guard.live("text", piece) for piece in pieces) + guard.ended("text")
    assert live == guard.after_model("".join(pieces)) == "the key is [redacted] and that is it"
    assert guard.before_settle(f"{SECRET}!") == "[redacted]!"
    assert guard.arguments({"a": [SECRET], "n": 1}) == {"a": ["[redacted]"], "n": 1}


def test_thinking_and_text_are_held_apart() -> None:
    guard = Guard(["Hello"])
    assert guard.live("text", "sk-") == ""
    assert guard.live("thinking", "well") == "well"
    assert guard.live("text", "1 is short ") == "sk-1 is short "

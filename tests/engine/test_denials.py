"""Which denials a model may read, and which batches of them end the turn."""

import pytest

from agents.engine.conduct import Conduct, follow
from agents.engine.denials import Account, judge
from tests.engine.calls import call, denied, settled

READABLE = ["invalid_arguments", "tool_not_offered", "policy_refused"]
FINAL = [
    "member_denied",
    "approval_expired",
    "approval_mismatch",
    "run_expired",
    "decision_unreachable",
    "call_id_reused",
    "queue_refused",
    "batch_stopped",
    "required_tool_blocked",
]


@pytest.mark.req("BND-007", "BND-011")
@pytest.mark.parametrize("cause", READABLE)
def test_the_first_denial_of_a_name_is_told_and_the_turn_goes_on(cause: str) -> None:
    judgement = judge(Account(), [denied(call("a"), cause)])
    assert (judgement.readable, judgement.closes) == ({"c1"}, "")


@pytest.mark.req("BND-012")
@pytest.mark.parametrize("cause", FINAL)
def test_final_denials_are_never_told(cause: str) -> None:
    judgement = judge(Account(), [denied(call("a"), cause)])
    assert (judgement.readable, judgement.closes) == (frozenset(), "denials_exhausted")


@pytest.mark.req("BND-008", "BND-010")
def test_a_second_denial_of_a_name_is_not_told_and_alone_ends_the_turn() -> None:
    account = judge(Account(), [denied(call("a"), "policy_refused")]).account
    again = judge(account, [denied(call("a"), "invalid_arguments")])
    assert (again.readable, again.closes) == (frozenset(), "denials_exhausted")


@pytest.mark.req("BND-008")
def test_of_two_denials_of_a_name_in_one_batch_the_earlier_is_told() -> None:
    batch = [denied(call("a", f"c{n}"), "invalid_arguments") for n in (1, 2)]
    assert judge(Account(), batch).readable == {"c1"}


@pytest.mark.req("BND-009")
def test_three_names_are_told_and_a_fourth_is_not() -> None:
    batch = [denied(call(name, name), "tool_not_offered") for name in "abcd"]
    judgement = judge(Account(), batch)
    assert judgement.readable == {"a", "b", "c"}
    following = judge(judgement.account, [denied(call("e"), "tool_not_offered")])
    assert (following.readable, following.closes) == (frozenset(), "denials_exhausted")


@pytest.mark.req("BND-010")
def test_a_batch_in_which_something_ran_goes_on() -> None:
    account = judge(Account(), [denied(call("a"), "policy_refused")]).account
    mixed = [denied(call("a"), "policy_refused"), settled(call("b", "c2"), "error")]
    judgement = judge(account, mixed)
    assert (judgement.readable, judgement.closes) == (frozenset(), "")


@pytest.mark.req("BND-013")
@pytest.mark.parametrize("cause", ["member_denied", "batch_stopped"])
def test_a_refusal_or_an_interruption_takes_the_whole_batch_with_it(cause: str) -> None:
    batch = [denied(call("a"), "invalid_arguments"), denied(call("b", "c2"), cause)]
    judgement = judge(Account(), batch)
    assert (judgement.readable, judgement.closes) == (frozenset(), "denials_exhausted")


@pytest.mark.req("BND-013")
def test_no_denial_is_told_beside_a_call_that_had_to_be_approved() -> None:
    batch = [denied(call("a"), "invalid_arguments"), settled(call("b", "c2"))]
    assert judge(Account(), batch).readable == {"c1"}
    assert judge(Account(), batch, parked=True).readable == frozenset()
    calls = [call("a"), call("b", "c2")]
    assert follow(Conduct(), calls, batch, parked=True)[1].readable == frozenset()


def test_an_empty_batch_closes_nothing() -> None:
    assert judge(Account(), []).closes == ""

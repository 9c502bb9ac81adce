"""Failing at the same input, and searching for tools, end."""

import pytest

from agents.engine import bounds, discovery, repeated
from agents.engine.conduct import Conduct, follow
from agents.engine.events import ToolSettled
from tests.engine.calls import call, denied, failed, settled


def outcome_of(*batches: ToolSettled) -> str:
    """Why a turn with these one-call batches ends."""
    conduct, closes = Conduct(), ""
    for result in batches:
        conduct, verdict = follow(conduct, [call(result.tool)], [result])
        closes = verdict.closes
    return closes


@pytest.mark.req("BND-019", "BND-022")
def test_the_third_failure_on_the_same_input_ends_the_turn() -> None:
    failure = failed(call("read", id="7"))
    assert outcome_of(failure, failure) == ""
    assert outcome_of(failure, failure, failure) == "repeated_tool_failure_exhausted"
    assert bounds.IDENTICAL_FAILURES == 3


@pytest.mark.req("BND-020")
def test_another_input_has_a_count_of_its_own_and_a_success_resets_it() -> None:
    failure, other = failed(call("read", id="7")), failed(call("read", id="8"))
    assert outcome_of(failure, failure, other) == ""
    success = settled(call("read", id="7"))
    assert outcome_of(failure, failure, success, failure, failure) == ""
    assert outcome_of(failure, other, failure, settled(call("read", id="8")), failure) != ""


def test_a_call_that_was_refused_counts_for_nothing() -> None:
    refused = settled(call("read"), "error", denial="repeat_refused")
    assert repeated.count({}, [refused] * 5) == ({}, "")


def test_timeouts_are_failures() -> None:
    timeout = settled(call("read"), "timeout")
    assert outcome_of(timeout, timeout, timeout) == "repeated_tool_failure_exhausted"


SEARCH = settled(call("tool_search", query="x"), discovery=True)


@pytest.mark.req("BND-021", "BND-022")
def test_four_searches_without_another_success_end_the_turn() -> None:
    searches = [settled(call("tool_search", query=str(n)), discovery=True) for n in range(4)]
    assert outcome_of(*searches[:3]) == ""
    assert outcome_of(*searches) == "discovery_exhausted"


@pytest.mark.req("BND-021")
def test_only_the_success_of_another_tool_starts_the_count_anew() -> None:
    success, failure = settled(call("read")), failed(call("read"))
    assert discovery.count(3, [success, SEARCH]) == (1, "")
    assert discovery.count(3, [failure, SEARCH]) == (4, "discovery_exhausted")


def test_a_search_that_was_not_allowed_is_none() -> None:
    assert discovery.count(3, [denied(call("tool_search"), "policy_refused")]) == (3, "")

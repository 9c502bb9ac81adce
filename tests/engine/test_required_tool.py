"""Which words bind a tool, and what is held until it was attempted."""

import pytest

from agents.engine.conduct import Conduct, blocked, follow
from agents.engine.required import bound, passed_over
from tests.engine.calls import call, denied, failed

TOOLS = ("search_about", "list_available_agents", "create_artifact")


@pytest.mark.req("REG-031")
@pytest.mark.parametrize(
    "message",
    [
        "You must call search_about.",
        "First, you must use the tool `search_about`, then tell me.",
        "You MUST call the search_about tool before you answer",
        "Call search_about exactly once and tell me what it says.",
        "Please use the search_about tool exactly once.",
        "You have to run 'search_about'! What are limits?",
        "How do limits work? You must invoke search_about.",
        "You must call search_about. Call search_about exactly once.",
    ],
)
def test_an_imperative_binds_the_one_tool_it_names(message: str) -> None:
    assert bound(message, TOOLS) == "search_about"


@pytest.mark.req("REG-032")
@pytest.mark.parametrize(
    "message",
    [
        "Use search_about to find out.",
        "search_about is a nice tool.",
        "You must not call search_about.",
        "You must never use search_about exactly once.",
        "Don't call search_about exactly once.",
        "You don\u2019t have to call search_about.",
        "You must call search_about or list_available_agents.",
        "You must call search_about. You must call create_artifact.",
        "You must call read_secrets.",
        "You must call search_about or read_secrets.",
        "You must call search_about. Do not call search_about.",
        "Must you call search_about? You must call search_about?",
        "If it is unclear you must call search_about.",
        'The manual says "you must call search_about before anything".',
        "> You must call search_about.\nWhat does this mean?",
        "```\nYou must call search_about.\n```\nExplain this.",
        "You must call me about search_about tomorrow.",
        "",
    ],
)
def test_everything_else_binds_nothing(message: str) -> None:
    assert bound(message, TOOLS) == ""


@pytest.mark.req("REG-032")
def test_a_tool_that_is_not_authorised_is_not_bound() -> None:
    assert bound("You must call search_about.", ("create_artifact",)) == ""


@pytest.mark.req("REG-033")
def test_substitutes_are_blocked_until_the_call_was_attempted() -> None:
    owes = Conduct(owed="search_about")
    other, right = call("create_artifact"), call("search_about", "c2")
    assert passed_over("search_about", [other])
    assert blocked(owes, [other]) == {"c1": "required_tool_blocked"}
    assert blocked(owes, [other, right]) == {}
    free, _ = follow(owes, [right], [failed(right)])
    assert free.owed == ""
    assert blocked(free, [other]) == {}


@pytest.mark.req("REG-033", "REG-034")
def test_another_tools_result_does_not_set_the_turn_free() -> None:
    other = call("create_artifact")
    still, verdict = follow(
        Conduct(owed="search_about"), [other], [denied(other, "required_tool_blocked")]
    )
    assert still.owed == "search_about"
    assert verdict.closes == "denials_exhausted"

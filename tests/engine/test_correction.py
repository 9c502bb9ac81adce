"""Correction rules are the server's, and a growing text is held back only while it may match."""

import pytest

from agents.engine import correction
from tests.boundaries.source import ROOT

RULES = correction.rules(offers_tools=True)


@pytest.mark.req("ENG-016")
@pytest.mark.parametrize(
    "text", ["", "  \n", "<", "<tool", "<tool_call>", "<tool_call>{}", "[TOOL"]
)
def test_a_text_that_may_yet_match_is_undecided(text: str) -> None:
    assert correction.undecided(RULES, text)


@pytest.mark.req("ENG-016")
@pytest.mark.parametrize("text", ["H", "Hello", "<b>", "a <tool_call>", "[1]"])
def test_any_other_text_is_shown_at_once(text: str) -> None:
    assert not correction.undecided(RULES, text)
    assert correction.matched(RULES, text) == ""


def test_a_turn_without_tools_has_no_rules() -> None:
    assert not correction.undecided(correction.rules(offers_tools=False), "<tool_call>")


@pytest.mark.req("ENG-017")
def test_every_rule_has_a_text_of_the_servers() -> None:
    assert set(correction.TEXTS) == {rule.id for rule in RULES}
    assert all(correction.TEXTS.values())
    assert correction.matched(RULES, " <tool_call>{}") in correction.TEXTS


@pytest.mark.req("ENG-018")
def test_no_definition_can_name_a_rule() -> None:
    """The words of a definition are closed, and none of them is about corrections."""
    content = (ROOT / "agents/definitions/content.py").read_text()
    bundles = [path.read_text() for path in ROOT.glob("agents/definitions/bundles/*")]
    assert bundles
    for text in (content, *bundles):
        assert "correction" not in text.lower()

"""Every internal code is told by exactly one member-visible code, and each of those has words."""

import pytest

from agents.turns import words
from audit.reasons import Reason

VISIBLE_CODES = 39


@pytest.mark.req("NRM-012")
@pytest.mark.parametrize("reason", list(Reason))
def test_every_internal_code_has_one_visible_code(reason: Reason) -> None:
    code = words.visible(reason)
    assert code in words.MESSAGES
    assert words.visible(code) == code
    assert words.for_member(reason) == words.MESSAGES[code]


@pytest.mark.req("NRM-012")
def test_the_visible_codes_are_closed() -> None:
    assert len(words.MESSAGES) == VISIBLE_CODES
    assert set(words.MESSAGES) <= set(Reason)
    assert words.visible(Reason.REPEATED_TOOL_FAILURE_EXHAUSTED) == "repeated_tool_failure"
    assert words.visible("something new") == "internal_error"


def test_no_code_is_told_in_two_ways() -> None:
    assert not set(words.TOLD_AS) & set(words.MESSAGES)
    assert set(words.TOLD_AS.values()) <= set(words.MESSAGES)

"""A message that would not fit is shortened in the model's copy only."""

from typing import Any

import pytest

from agents.prompts.trim import fitted, trimmed

LONG = "".join(f"{n:05} " for n in range(2_000))


def said(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


@pytest.mark.req("PRM-006")
def test_only_the_models_copy_of_the_long_message_is_shortened() -> None:
    messages = [said("user", "Hi"), said("assistant", "Hello"), said("user", LONG)]
    before = [dict(message) for message in messages]
    shown = fitted(messages, 4_000)
    assert messages == before
    assert shown[:2] == messages[:2]
    copy = shown[2]["content"]
    assert copy.startswith("00000 00001 ")
    assert copy.endswith("01999 ")
    assert "[… 8,007 characters of this message are left out here …]" in copy
    assert len(copy) < 4_100


@pytest.mark.req("PRM-006")
def test_what_stands_beside_it_takes_at_most_half_of_the_room() -> None:
    messages = [said("user", LONG), said("tool", "x" * 50_000)]
    shown = fitted(messages, 6_000)
    assert shown[1] is messages[1]
    assert 2_900 < len(shown[0]["content"]) < 3_100


def test_what_fits_is_left_as_it_is() -> None:
    messages = [said("user", LONG), said("assistant", "x")]
    assert fitted(messages, len(LONG) + 1) == messages
    assert trimmed(LONG, len(LONG)) == LONG
    assert fitted([said("system", LONG)], 10) == [said("system", LONG)]
    calls = [{"role": "assistant", "content": None, "tool_calls": []}, said("user", "Hi")]
    assert fitted(calls, 0)[0] is calls[0]


def test_a_short_message_stays_whole_beside_a_long_past() -> None:
    messages = [said("user", "Please look at all of it."), said("tool", LONG)]
    assert fitted(messages, 4_000)[0]["content"] == "Please look at all of it."

"""What changed between two versions: by field, by line and by word, in time that stays linear."""

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.definitions import differences
from artifacts import comparing

OLD = {"name": "Ferry", "persona": "Help people cross.\nBe short.", "mode": "chat", "meta": {}}


def sides(words: list[tuple[Any, str]]) -> tuple[str, str]:
    """Both texts again, from the stretches of their difference."""
    before = "".join(text for op, text in words if op in "=-")
    after = "".join(text for op, text in words if op in "=+")
    return before, after


@pytest.mark.req("AGT-006")
def test_only_fields_that_differ_are_told_in_order_of_their_names() -> None:
    new = {**OLD, "persona": "Help people cross the river.\nBe short.", "meta": {"a": 1}}
    assert differences.told(OLD, new) == [
        {"field": "meta", "before": {}, "after": {"a": 1}, "lines": [], "words": []},
        {
            "field": "persona",
            "before": OLD["persona"],
            "after": new["persona"],
            "lines": [
                "@@ -1,2 +1,2 @@",
                "-Help people cross.",
                "+Help people cross the river.",
                " Be short.",
            ],
            "words": [["=", "Help people cross"], ["+", " the river"], ["=", ".\nBe short."]],
        },
    ]
    assert differences.told(OLD, OLD) == []


def test_a_field_that_comes_or_goes_is_told_whole() -> None:
    (came,) = differences.told({}, {"mode": "chat"})
    assert (came["before"], came["after"], came["words"]) == (None, "chat", [])


def test_an_end_of_line_alone_is_told_by_words() -> None:
    assert differences.words("Help.", "Help.\n") == [("=", "Help."), ("+", "\n")]


TEXT = st.text(alphabet=st.sampled_from("ab \n.é\u200d\u2028\r\t_-"), max_size=60)


@given(TEXT, TEXT)
def test_the_words_of_a_difference_are_both_texts(before: str, after: str) -> None:
    words = differences.words(before, after)
    assert sides(words) == (before, after)
    assert all(text for _, text in words)


@given(TEXT)
def test_equal_texts_have_nothing_but_what_was_kept(text: str) -> None:
    assert {op for op, _ in differences.words(text, text)} <= {"="}


class Counted(str):
    """A word that counts how often it is compared."""

    compared = 0
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def comparisons(length: int, *, like: bool) -> int:
    """How often words are compared for two texts of so many words, alike or without likeness."""
    chance = random.Random(4)
    old = [Counted(chance.choice("abcdefgh")) for _ in range(length)]
    new = [Counted(chance.choice("abcdefgh")) for _ in range(length)]
    if like:
        new = [*old[: length // 2], Counted("new"), *old[length // 2 :]]
    Counted.compared = 0
    runs = comparing.runs(old, new)
    assert Counter(run.op for run in runs)
    return Counted.compared


@pytest.mark.parametrize("like", [True, False])
def test_four_times_the_words_are_no_more_than_about_four_times_the_work(like: bool) -> None:
    few, many = comparisons(5_000, like=like), comparisons(20_000, like=like)
    assert many <= 6 * few

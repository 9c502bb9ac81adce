"""A call's arguments while the model writes them: right at every split, and never ahead of it."""

import itertools
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.boundary.partial import MEMBERS, VALUE_CHARACTERS, PartialArguments

TEXT = 'Say "hi",\n\tthen \\ go / \u00e9 \U0001f6a2 {"content": "no"} \ud7ff\u2028.'
WHOLE: dict[str, Any] = {
    "title": 'A "plan" }',
    "tags": [{"content": "inner", "n": [1, 2.5e3]}, None, True, "]}"],
    "content": TEXT,
    "after": {"deep": ["\\", '"']},
    "count": -12,
}


def read(raw: str, cuts: list[int]) -> tuple[PartialArguments, list[str]]:
    reader = PartialArguments("content")
    edges = [0, *sorted(cuts), len(raw)]
    return reader, [reader.feed(raw[a:b]) for a, b in itertools.pairwise(edges)]


@pytest.mark.parametrize("ensure_ascii", [True, False])
@pytest.mark.parametrize("indent", [None, 2])
def test_every_split_in_two_reads_the_same(ensure_ascii: bool, indent: int | None) -> None:
    raw = json.dumps(WHOLE, ensure_ascii=ensure_ascii, indent=indent)
    for cut in range(len(raw) + 1):
        reader, said = read(raw, [cut])
        assert "".join(said) == TEXT, cut
        assert {**reader.members, "content": TEXT} == WHOLE, cut
        assert reader.is_whole
        assert not reader.is_broken
        assert TEXT.startswith(said[0])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None)
@given(
    content=st.text(max_size=60),
    others=st.dictionaries(st.text(max_size=8), JSON, max_size=4),
    ascii_only=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_any_text_comes_out_of_any_pieces(
    content: str, others: dict[str, Any], ascii_only: bool, seed: int
) -> None:
    chance = random.Random(seed)
    members = [*(item for item in others.items() if item[0] != "content"), ("content", content)]
    chance.shuffle(members)
    raw = json.dumps(dict(members), ensure_ascii=ascii_only)
    reader, said = read(raw, [chance.randrange(len(raw) + 1) for _ in range(chance.randrange(30))])
    assert "".join(said) == content
    assert reader.members == {name: value for name, value in members if name != "content"}
    assert reader.is_whole
    assert reader.has_text


def test_a_character_that_arrives_in_halves_is_one() -> None:
    reader = PartialArguments("content")
    said = [reader.feed('{"content": "a\ud83d'), reader.feed('\udea2b", "title": "\ud83d')]
    said.append(reader.feed('\udea2"}'))
    assert said == ["a", "\U0001f6a2b", ""]
    assert reader.members == {"title": "\U0001f6a2"}


def test_what_has_not_ended_is_no_member_yet() -> None:
    reader, said = read('{"title": "Plan", "kind": "mark', [])
    assert (reader.members, said, reader.is_whole) == ({"title": "Plan"}, [""], False)
    number, _ = read('{"count": 12', [])
    assert number.members == {}  # more digits may follow


def test_an_empty_object_before_the_real_one_is_overlooked() -> None:
    reader, said = read('{}{"content": "x"}', [1, 2, 3])
    assert ("".join(said), reader.is_whole, reader.is_broken) == ("x", True, False)


@pytest.mark.parametrize(
    "raw",
    [
        "[1]",
        "text",
        '{"content": "a\\x"}',
        '{"content": "\\ud83dx"}',
        '{"content": "a", "content": "b"}',
        '{"title": "a", "title": "b"}',
        '{"title": NaN}',
        '{"title" 1}',
        '{,"title": 1}',
        '{"title": 1,}',
        "{" + ",".join(f'"m{n}": 1' for n in range(MEMBERS + 1)) + "}",
        '{"title": ' + "[" * 5_000 + "]" * 5_000 + "}",
    ],
)
def test_what_is_no_readable_object_says_nothing_more(raw: str) -> None:
    reader, _ = read(raw, list(range(0, len(raw), max(1, len(raw) // 40))))
    assert reader.is_broken or (not reader.is_whole and not reader.members)
    assert not reader.is_broken or reader.feed('{"content": "late"}') == ""


def test_a_long_member_is_passed_over_and_not_kept() -> None:
    raw = json.dumps({"blob": "x" * (VALUE_CHARACTERS + 1), "content": "kept"})
    reader, said = read(raw, list(range(0, len(raw), 997)))
    assert ("".join(said), reader.members, reader.is_whole) == ("kept", {}, True)


def test_a_watched_member_that_is_no_text_is_a_member() -> None:
    reader, said = read('{"content": ["a", "b"]}', [5, 15])
    assert ("".join(said), reader.members, reader.has_text) == ("", {"content": ["a", "b"]}, False)

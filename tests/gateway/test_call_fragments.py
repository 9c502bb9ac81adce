"""Fragments of tool calls in the habits of different servers."""

from typing import Any

import pytest

from agents.gateway.fragments import MAX_CALLS, CallJoiner, TooManyCalls


def fragment(arguments: Any = None, **fields: Any) -> dict[str, Any]:
    function = {"arguments": arguments} if arguments is not None else {}
    if "name" in fields:
        function["name"] = fields.pop("name")
    return {**fields, "function": function}


def joined(*fragments: Any) -> list[tuple[str, str, str]]:
    joiner = CallJoiner()
    for one in fragments:
        joiner.add(one)
    return [(call.id, call.name, call.raw) for call in joiner.joined()]


@pytest.mark.parametrize(
    ("fragments", "calls"),
    [
        # Calls come out in index order, whatever order they began in.
        (
            [fragment("{}", index=1, id="b", name="y"), fragment("{}", index=0, id="a", name="x")],
            [("a", "x", "{}"), ("b", "y", "{}")],
        ),
        # Every parallel call has index 0 and an id of its own.
        (
            [fragment("{}", index=0, id="a", name="x"), fragment("{}", index=0, id="b", name="x")],
            [("a", "x", "{}"), ("b", "x", "{}")],
        ),
        (
            [fragment(index=0, id="a", name="x"), fragment('{"q"', index=0, id="b", name="y")],
            [("a", "x", ""), ("b", "y", '{"q"')],
        ),
        (
            [
                fragment('{"q"', index=0, id="a", name="x"),
                fragment("{}", index=0, id="b", name="y"),
            ],
            [("a", "x", '{"q"'), ("b", "y", "{}")],
        ),
        (
            [fragment('{"q"', index=0, id="a", name="x"), fragment(":1}", index=0, id="b")],
            [("a", "x", '{"q":1}')],
        ),
        # Every fragment of one call has a new id, and repeats the name.
        (
            [
                fragment('{"q"', index=0, id="a", name="x"),
                fragment(":1}", index=0, id="b", name="x"),
            ],
            [("a", "x", '{"q":1}')],
        ),
        # Id and name are repeated in every fragment.
        (
            [
                fragment('{"q"', index=0, id="a", name="x"),
                fragment(":1}", index=0, id="a", name="x"),
            ],
            [("a", "x", '{"q":1}')],
        ),
        ([fragment('{"q"', id="a", name="x"), fragment(":1}", id="a")], [("a", "x", '{"q":1}')]),
        # The second call begins under the first one's index, and goes on under its own.
        (
            [
                fragment('{"q":1}', index=0, id="a", name="x"),
                fragment('{"q"', index=0, id="b", name="x"),
                fragment(":2}", index=1),
            ],
            [("a", "x", '{"q":1}'), ("b", "x", '{"q":2}')],
        ),
        # A known id says where a fragment belongs, whatever index it has now.
        (
            [
                fragment('{"q"', index=0, id="a", name="x"),
                fragment('{"q"', index=1, id="b", name="y"),
                fragment(":1}", index=1, id="a"),
                fragment(":2}", index=2, id="b"),
            ],
            [("a", "x", '{"q":1}'), ("b", "y", '{"q":2}')],
        ),
        (
            [
                fragment('{"q"', index=0, id="a", name="x"),
                fragment('{"q"', index=1, id="b", name="y"),
                fragment(":1}", index=1, id="a", name="x"),
            ],
            [("a", "x", '{"q":1}'), ("b", "y", '{"q"')],
        ),
        # All calls have the same id; then also the same index, or no id at all.
        (
            [
                fragment('{"d":1}', index=0, id="k", name="x"),
                fragment('{"d":2}', index=1, id="k", name="x"),
            ],
            [("k", "x", '{"d":1}'), ("k", "x", '{"d":2}')],
        ),
        (
            [
                fragment('{"d":1}', index=0, id="k", name="x"),
                fragment('{"d":2}', index=0, id="k", name="x"),
            ],
            [("k", "x", '{"d":1}'), ("k", "x", '{"d":2}')],
        ),
        (
            [fragment('{"d":1}', index=0, name="x"), fragment('{"d":2}', index=0, name="x")],
            [("", "x", '{"d":1}'), ("", "x", '{"d":2}')],
        ),
        # A whole call that is said once more, with its name.
        (
            [
                fragment('{"d":', index=0, id="a", name="x"),
                fragment("1}", index=0),
                fragment('{"d":1}', index=0, id="a", name="x"),
            ],
            [("a", "x", '{"d":1}')],
        ),
        # Indexes that count from one, that are text, and that are no index.
        (
            [
                fragment('{"d":1}', index=1, id="a", name="x"),
                fragment('{"d":2}', index=2, id="b", name="x"),
            ],
            [("a", "x", '{"d":1}'), ("b", "x", '{"d":2}')],
        ),
        (
            [
                fragment('{"d"', index="1", id="b", name="y"),
                fragment('{"d"', index="0", id="a", name="x"),
                fragment(":2}", index=1.0),
                fragment(":1}", index="0"),
            ],
            [("a", "x", '{"d":1}'), ("b", "y", '{"d":2}')],
        ),
        (
            [fragment('{"d"', index="first", id="a", name="x"), fragment(":1}", index=None)],
            [("a", "x", '{"d":1}')],
        ),
        # A name in pieces, and a name as a running total.
        (
            [fragment(index=0, id="a", name="read_"), fragment(index=0, name="file")],
            [("a", "read_file", "")],
        ),
        (
            [fragment(index=0, id="a", name="read_"), fragment(index=0, name="read_file")],
            [("a", "read_file", "")],
        ),
        # Arguments as an object; a bare fragment before any call; what is no fragment.
        ([fragment({"q": "\u00e9"}, index=0, id="a", name="x")], [("a", "x", '{"q": "\u00e9"}')]),
        ([fragment("{}")], [("", "", "{}")]),
        ([None, "x", {"function": 7, "index": True, "id": 3}], [("", "", "")]),
    ],
)
def test_it_joins_what_belongs_together(fragments: list[Any], calls: list[Any]) -> None:
    assert joined(*fragments) == calls


def test_halves_of_a_character_meet() -> None:
    assert joined(
        fragment('{"q":"\ud83d', index=0, id="a", name="x"), fragment('\udea2"}', index=0)
    ) == [("a", "x", '{"q":"\U0001f6a2"}')]


def test_it_bounds_the_number_of_calls() -> None:
    joiner = CallJoiner()
    for index in range(MAX_CALLS):
        joiner.add(fragment("{}", index=index, id=f"c{index}", name="x"))
    with pytest.raises(TooManyCalls):
        joiner.add(fragment("{}", index=MAX_CALLS, id="more", name="x"))


def test_deltas_bring_the_argument_text_once() -> None:
    joiner = CallJoiner()
    said: dict[int, list[str]] = {0: [], 1: []}
    for one in (
        fragment('{"q"', index=0, id="a", name="x"),
        fragment("{", index=1, id="b", name="y"),
        fragment(":1}", index=0),
        fragment(index=0, id="a"),
        fragment("}", index=1),
    ):
        joiner.add(one)
        for delta in joiner.deltas():
            said[delta.index].append(delta.text)
    assert said == {0: ['{"q"', ":1}", ""], 1: ["{", "}"]}

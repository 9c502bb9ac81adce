"""Hunks against an exact text: what they change, what they leave alone, what is refused whole."""

import random

import pytest

from artifacts import editing
from artifacts.editing import Hunk
from audit.refusals import Invalid

NUMBERS = "one\ntwo\nthree\nfour\nfive\n"


def put(first: int, last: int, *lines: str) -> Hunk:
    return Hunk("PUT", first=first, last=last, lines=lines)


def add(after: int, *lines: str) -> Hunk:
    return Hunk("PUT", after=after, lines=lines)


def cut(first: int, last: int) -> Hunk:
    return Hunk("CUT", first=first, last=last)


def refused(content: str, *hunks: Hunk) -> list[tuple[str, str]]:
    """Fields and reasons of a refusal."""
    with pytest.raises(Invalid) as caught:
        editing.apply(content, hunks)
    assert 0 < len(caught.value.message) < 500
    return [(fault["field"], fault["reason"]) for fault in caught.value.fields]


@pytest.mark.req("ART-003")
def test_hunks_name_lines_of_the_base_whatever_their_order() -> None:
    hunks = [cut(4, 4), put(1, 1, "ONE", "and a half"), add(5, "six"), add(2, "two and a half")]
    expected = "ONE\nand a half\ntwo\ntwo and a half\nthree\nfive\nsix\n"
    for _ in range(5):
        random.shuffle(hunks)
        assert editing.apply(NUMBERS, hunks) == expected


@pytest.mark.req("ART-003")
def test_thirty_two_hunks_may_come_and_ranges_may_touch() -> None:
    base = "line\n" * 40
    whole = [put(number, number, f"{number}") for number in range(1, 33)]
    changed = "".join(f"{number}\n" for number in range(1, 33)) + "line\n" * 8
    assert editing.apply(base, whole) == changed
    assert editing.apply(NUMBERS, [put(2, 3, "X"), put(4, 4, "Y")]) == "one\nX\nY\nfive\n"
    around = [add(1, "before"), cut(2, 3), add(3, "behind")]
    assert editing.apply(NUMBERS, around) == "one\nbefore\nbehind\nfour\nfive\n"


@pytest.mark.req("ART-004")
@pytest.mark.parametrize(
    ("hunks", "fault"),
    [
        ((put(2, 4, "X"), put(4, 5, "Y")), ("hunks.1", "invalid_field")),
        ((put(2, 4, "X"), add(3, "Y")), ("hunks.1", "invalid_field")),
        ((add(3, "X"), add(3, "Y")), ("hunks.1", "invalid_field")),
        ((put(4, 5, "Y"), cut(1, 4)), ("hunks.1", "invalid_field")),
        ((put(1, 1, "ONE"), cut(6, 6)), ("hunks.1.first", "invalid_field")),
        ((put(5, 6, "X"),), ("hunks.0.last", "invalid_field")),
        ((put(0, 1, "X"),), ("hunks.0.first", "invalid_field")),
        ((add(6, "X"),), ("hunks.0.after", "invalid_field")),
        ((add(-1, "X"),), ("hunks.0.after", "invalid_field")),
        ((put(3, 2, "X"),), ("hunks.0.last", "invalid_field")),
        ((Hunk("PUT", first=1, lines=("X",)),), ("hunks.0.last", "missing_field")),
        ((Hunk("PUT", lines=("X",)),), ("hunks.0.first", "missing_field")),
        (
            (Hunk("PUT", first=1, last=1, after=1, lines=("X",)),),
            ("hunks.0.after", "invalid_field"),
        ),
        ((Hunk("CUT", after=1),), ("hunks.0.after", "invalid_field")),
        ((Hunk("CUT", first=1, last=1, lines=("X",)),), ("hunks.0.lines", "invalid_field")),
        ((put(1, 1),), ("hunks.0.lines", "missing_field")),
        ((put(1, 1, "a\nb"),), ("hunks.0.lines.0", "invalid_field")),
        ((put(1, 1, "a", "b\r"),), ("hunks.0.lines.1", "invalid_field")),
        ((put(1, 1, *["x"] * 401),), ("hunks.0.lines", "too_long")),
        ((), ("hunks", "missing_field")),
        ((add(0, "x"),) * 33, ("hunks", "too_long")),
        ((Hunk("MOVE", first=1, last=1),), ("hunks.0.op", "invalid_field")),  # type: ignore[arg-type]
    ],
)
def test_one_hunk_that_cannot_stand_refuses_all_of_them(
    hunks: tuple[Hunk, ...], fault: tuple[str, str]
) -> None:
    assert refused(NUMBERS, *hunks) == [fault]


def test_a_hunk_reaches_over_at_most_400_lines() -> None:
    base = "line\n" * 500
    assert editing.apply(base, [cut(1, 400)]) == "line\n" * 100
    assert refused(base, cut(1, 401)) == [("hunks.0.last", "too_long")]


def test_a_refusal_names_every_bad_hunk_in_words_a_model_can_act_on() -> None:
    with pytest.raises(Invalid) as caught:
        editing.apply(NUMBERS, [put(9, 9, "x"), put(1, 1, "fine"), cut(4, 2)])
    assert [fault["field"] for fault in caught.value.fields] == ["hunks.0.first", "hunks.2.last"]
    assert caught.value.message == (
        "Hunk 1: lines 9 to 9 are outside, the base version has 5 lines."
        " Hunk 3: first (4) is behind last (2)."
    )
    with pytest.raises(Invalid) as overlapping:
        editing.apply(NUMBERS, [put(4, 5, "x"), put(2, 4, "y")])
    assert overlapping.value.message == "Hunks 2 and 1 overlap at line 4. Join them to one hunk."


@pytest.mark.parametrize(
    ("base", "hunks", "expected"),
    [
        # new lines end as those they replace
        (
            "\ufeffone\r\ntwo\r\nthree\r\n",
            [put(2, 2, "a", "b")],
            "\ufeffone\r\na\r\nb\r\nthree\r\n",
        ),
        ("one\r\ntwo\nthree\r\n", [put(1, 1, "ONE")], "ONE\r\ntwo\nthree\r\n"),
        ("one\r\ntwo\nthree\r\n", [put(1, 2, "A", "B", "C")], "A\r\nB\nC\nthree\r\n"),
        ("one\r\ntwo\nthree\r\n", [put(1, 2, "A")], "A\nthree\r\n"),
        # added lines end as their neighbour
        ("one\r\ntwo\nthree\r\n", [add(1, "x")], "one\r\nx\r\ntwo\nthree\r\n"),
        ("one\r\ntwo\nthree\r\n", [add(2, "x")], "one\r\ntwo\nx\nthree\r\n"),
        ("one\r\ntwo\n", [add(0, "x")], "x\r\none\r\ntwo\n"),
        # a byte order mark is no part of the first line
        ("\ufeffone\ntwo\n", [put(1, 1, "ONE")], "\ufeffONE\ntwo\n"),
        ("\ufeffone\ntwo\n", [cut(1, 1)], "\ufefftwo\n"),
        ("\ufeffone\ntwo\n", [add(0, "zero")], "\ufeffzero\none\ntwo\n"),
        # a text that stops without a line end still does
        ("one\ntwo", [put(2, 2, "TWO")], "one\nTWO"),
        ("one\ntwo", [put(2, 2, "a", "b")], "one\na\nb"),
        ("one\r\ntwo", [put(2, 2, "a", "b")], "one\r\na\r\nb"),
        ("one\r\ntwo", [add(2, "three")], "one\r\ntwo\r\nthree"),
        ("one", [add(1, "two")], "one\ntwo"),
        ("one", [add(0, "zero")], "zero\none"),
        ("one\ntwo", [cut(2, 2)], "one\n"),
        ("one\ntwo", [cut(1, 1)], "two"),
        ("one\ntwo", [put(1, 1, "ONE")], "ONE\ntwo"),
        # what only looks like the end of a line is content
        ("p 10%\rp 20%\ntwo\n", [put(2, 2, "TWO")], "p 10%\rp 20%\nTWO\n"),
        (
            "a\u2028b\u0085c\x0bd\x0ce\u2029f\ntwo\n",
            [cut(2, 2)],
            "a\u2028b\u0085c\x0bd\x0ce\u2029f\n",
        ),
        ("one\ntwo\n", [put(1, 1, "a\u2028b", "c\rd")], "a\u2028b\nc\rd\ntwo\n"),
        ("one\r\r\ntwo\n", [put(2, 2, "TWO")], "one\r\r\nTWO\n"),
        # spaces at the end, tabs and empty lines are kept as they come
        ("one  \n\t\n two\n", [put(3, 3, " 2\t ", "", "  ")], "one  \n\t\n 2\t \n\n  \n"),
        ("one\n\n\n", [put(3, 3, "x")], "one\n\nx\n"),
        # look-alikes are never made alike
        ("Cafe\u0301 \u2014 a\u00a0b\nnext\n", [put(2, 2, "N")], "Cafe\u0301 \u2014 a\u00a0b\nN\n"),
    ],
)
def test_whatever_no_hunk_names_keeps_its_bytes(
    base: str, hunks: list[Hunk], expected: str
) -> None:
    assert editing.apply(base, hunks) == expected


def test_any_text_is_its_lines_joined_again() -> None:
    chance = random.Random(7)
    pieces = ["a", "b ", "\r", "\n", "\r\n", "\n\n", "\u2028", "\x0c", "\ufeff", ""]
    for _ in range(2_000):
        content = "".join(chance.choices(pieces, k=chance.randrange(12)))
        text = editing.split(content)
        assert text.joined == content
        assert all("\n" not in line.text for line in text.lines)
        assert all(line.end for line in text.lines[:-1])


def test_many_hunks_do_what_lists_of_lines_would_do() -> None:
    chance = random.Random(11)
    for _ in range(500):
        lines = [f"{number}" for number in range(1, chance.randrange(2, 40))]
        hunks, expected, at = [], [], 0
        while at < len(lines):
            reach = chance.randrange(1, 4)
            match chance.randrange(4):
                case 0:
                    last = min(at + reach, len(lines))
                    new = [f"new {at} {index}" for index in range(reach)]
                    hunks.append(put(at + 1, last, *new))
                    expected += new
                    at = last
                case 1:
                    last = min(at + reach, len(lines))
                    hunks.append(cut(at + 1, last))
                    at = last
                case _:
                    expected.append(lines[at])
                    at += 1
        if 0 < len(hunks) <= editing.HUNKS:
            changed = editing.apply("".join(f"{line}\n" for line in lines), hunks)
            assert changed == "".join(f"{line}\n" for line in expected)


def test_lines_that_no_hunk_names_stand_in_their_order_with_their_ends() -> None:
    chance = random.Random(17)
    pieces = ["a", "b ", "", "\t", "\rc", "\u2028", "\x85d"]
    for _ in range(1_000):
        base = "".join(
            chance.choice(pieces) + chance.choice(["\n", "\r\n"])
            for _ in range(chance.randrange(1, 20))
        ) + chance.choice(["", "open"])
        lines = editing.split(base).lines
        first = chance.randrange(1, len(lines) + 1)
        last = chance.randrange(first, len(lines) + 1)
        new = tuple(chance.choices(["x", "y ", "z\u2029"], k=chance.randrange(1, 4)))
        hunk = chance.choice([cut(first, last), put(first, last, *new), add(first, *new)])
        changed = editing.apply(base, [hunk])
        if not changed.removeprefix(editing.MARK):  # nothing is left, and so no line
            continue
        text = editing.split(changed)
        before = first if hunk.after is not None else first - 1
        behind = first if hunk.after is not None else last
        put_in = hunk.lines
        assert [line.text for line in text.lines[before : before + len(put_in)]] == list(put_in)
        rest = text.lines[before + len(put_in) :]
        assert [line.text for line in rest] == [line.text for line in lines[behind:]]
        assert rest == lines[behind:]
        untouched = text.lines[:before]
        assert [line.text for line in untouched] == [line.text for line in lines[:before]]
        assert all(
            now == was or (was.end == "" and now.end)
            for now, was in zip(untouched, lines, strict=False)
        )

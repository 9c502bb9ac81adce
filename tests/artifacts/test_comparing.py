"""What differs between two texts: right for any two, and never more than linear work."""

import random

import pytest

from artifacts import comparing


def side(marked: list[tuple[comparing.Op, str]], op: str) -> list[str]:
    """The lines of one text, taken out of the comparison of both."""
    return [line for mark, line in marked if mark in ("=", op)]


def lines(content: str) -> list[str]:
    return [line.removesuffix("\n") for line in comparing.lines_of(content)]


def texts(chance: random.Random) -> tuple[str, str]:
    letters = chance.choice(["ab", "abcdefghijkl", "aaab"])
    ends = chance.choice([["\n"], ["\n", "\r\n"]])
    one, other = (
        "".join(chance.choice(letters) + chance.choice(ends) for _ in range(chance.randrange(25)))
        for _ in range(2)
    )
    return one + chance.choice(["", "x"]), other + chance.choice(["", "x"])


def test_both_texts_can_be_read_back_from_a_comparison() -> None:
    chance = random.Random(5)
    for _ in range(1_500):
        before, after = texts(chance)
        marked = comparing.marked(before, after)
        assert side(marked, "-") == lines(before)
        assert side(marked, "+") == lines(after)


def test_a_small_change_in_a_long_text_is_shown_as_that_change() -> None:
    before = [f"line {number % 50}\n" for number in range(3_000)]
    after = [*before[:1_000], "new\n", *before[1_000:2_000], *before[2_001:]]
    marked = comparing.marked("".join(before), "".join(after))
    assert [one for one in marked if one[0] != "="] == [("+", "new"), ("-", "line 0")]


def longest_common(before: list[str], after: list[str]) -> int:
    """The length of a longest common subsequence, the slow and certain way."""
    row = [0] * (len(after) + 1)
    for mine in before:
        above, row = row, [0]
        for at, theirs in enumerate(after):
            row.append(above[at] + 1 if mine == theirs else max(row[-1], above[at + 1]))
    return row[-1]


def test_repeated_lines_are_compared_by_a_shortest_way() -> None:
    chance = random.Random(9)
    for _ in range(500):
        before, after = (chance.choices("abc", k=chance.randrange(2, 14)) for _ in range(2))
        pairs = comparing._shortest(before, after, comparing._Work(10_000))
        assert [before[i] for i, _ in pairs] == [after[j] for _, j in pairs]
        assert pairs == sorted(set(pairs))
        assert len(pairs) == longest_common(before, after)


def test_lines_that_only_end_differently_differ() -> None:
    assert comparing.marked("a\nb\n", "a\r\nb") == [
        ("-", "a"),
        ("-", "b"),
        ("+", "a\r"),
        ("+", "b"),
    ]
    assert comparing.marked("a\u2028b\n", "a\u2028b\n") == [("=", "a\u2028b")]
    assert comparing.marked("", "a\n") == [("+", "a")]
    assert comparing.marked("", "") == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a\nb\nc\n", "a\nb\nc\n", ""),
        ("a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c"),
        ("a\n", "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file"),
        (
            "".join(f"{n}\n" for n in range(1, 31)),
            "".join(f"{n}\n" for n in range(1, 31) if n not in (2, 29)),
            "@@ -1,5 +1,4 @@\n 1\n-2\n 3\n 4\n 5\n@@ -26,5 +25,4 @@\n 26\n 27\n 28\n-29\n 30",
        ),
        ("", "x\n", "@@ -0,0 +1 @@\n+x"),
    ],
)
def test_a_unified_diff_reads_as_people_know_it(before: str, after: str, expected: str) -> None:
    assert comparing.unified(before, after) == expected


def test_a_unified_diff_is_bounded() -> None:
    diff = comparing.unified("a\n" * 50_000, "b\n" * 50_000, longest=1_000)
    assert len(diff) < 1_100
    assert diff.endswith(comparing.CUT_SHORT)
    one_line = comparing.unified("a" * 100_000, "b" * 100_000, longest=1_000)
    assert one_line == f"@@ -1 +1 @@\n{comparing.CUT_SHORT}"


@pytest.mark.parametrize("letters", ["ab", "a", "abcdefghijklmnopqrstuvwxyz"])
def test_exact_comparison_stops_at_its_share_of_the_work(letters: str) -> None:
    chance = random.Random(13)
    before, after = (chance.choices(letters, k=50_000) for _ in range(2))
    work = comparing._Work(100_000)
    found = comparing._shortest(before, after, work)
    assert work.left > -200_000
    assert found == [] or len(found) <= 50_000

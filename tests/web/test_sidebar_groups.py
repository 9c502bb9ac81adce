"""Grouping of the sidebar: pure."""

from datetime import UTC, date, datetime

import pytest

from agents.web.sidebar import Entry, heading, in_groups

TODAY = date(2026, 3, 10)


@pytest.mark.parametrize(
    ("day", "title"),
    [
        (date(2026, 3, 10), "Today"),
        (date(2026, 3, 9), "Yesterday"),
        (date(2026, 3, 8), "Previous 7 days"),
        (date(2026, 3, 3), "Previous 7 days"),
        (date(2026, 3, 2), "Older"),
    ],
)
def test_a_day_has_one_heading(day: date, title: str) -> None:
    assert heading(None, day, TODAY) == title


def test_pinned_comes_before_every_day() -> None:
    assert heading(datetime(2026, 1, 1, tzinfo=UTC), date(2026, 1, 1), TODAY) == "Pinned"


def test_groups_keep_their_order_and_leave_empty_ones_out() -> None:
    entries = [Entry(name, name, False, False, False) for name in ("old", "new", "fixed")]
    days = [date(2025, 1, 1), TODAY, TODAY]
    pinned = [None, None, datetime(2026, 1, 1, tzinfo=UTC)]
    headings = [heading(pin, day, TODAY) for pin, day in zip(pinned, days, strict=True)]
    groups = in_groups(zip(headings, entries, strict=True))
    assert [(str(group.title), [entry.id for entry in group.entries]) for group in groups] == [
        ("Pinned", ["fixed"]),
        ("Today", ["new"]),
        ("Older", ["old"]),
    ]

"""What the readers of one conversation share: order, repeats, gaps and bounds; no network."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.streaming.relay import WINDOW_BYTES, Relay
from agents.streaming.wire import Delta, Frame, joined

TURN = "6f1b9a52-3d3f-4a09-9d0e-0a4f4e6f1b9a"


def piece(text: str, offset: int, *, resume: bool = False) -> dict[str, Any]:
    return {
        "event": "delta",
        "turn_id": TURN,
        "kind": "text",
        "segment": 0,
        "segment_start": False,
        "offset": offset,
        "text": text,
        **({"resume": True} if resume else {}),
    }


def feed(relay: Relay, *pieces: dict[str, Any]) -> tuple[str, int]:
    """Joined text of what was handed out, and how often earlier text was asked for."""
    text, asked = "", 0
    for value in pieces:
        deltas, gap = relay.add(value, "as it came")
        asked += gap
        for delta in deltas:
            assert delta.offset == len(text)
            text += delta.piece
    return text, asked


def notice(position: int, size: int = 10) -> Frame:
    return Frame("x" * size, event="notice", position=position)


def test_overlapping_replay_and_live_delivery_neither_double_nor_swap_words() -> None:
    arrivals = [("The ", 0), ("cat ", 4), ("down.", 12), ("cat ", 4), ("lay ", 8), ("down.", 12)]
    text, asked = feed(Relay(), *[piece(*arrival) for arrival in arrivals])
    assert (text, asked) == ("The cat lay down.", 1)


@settings(deadline=None)
@given(data=st.data(), text=st.text(min_size=1, max_size=60))
def test_any_arrival_order_gives_the_text_once_the_whole_of_it_is_sent(
    data: st.DataObject, text: str
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    edges = [0, *cuts, len(text)]
    pieces = [piece(text[start:end], start) for start, end in pairwise(edges) if start < end]
    arrived = data.draw(st.lists(st.sampled_from(pieces), max_size=12)) if pieces else []
    got, _ = feed(Relay(), *arrived, piece(text, 0, resume=True), *reversed(pieces))
    assert got == text


@pytest.mark.req("STR-008")
def test_the_window_is_cut_only_at_its_byte_cap_and_then_says_that_it_does_not_reach() -> None:
    relay = Relay()
    relay.start_at(0)
    size = WINDOW_BYTES // 10
    for position in range(1, 11):
        assert relay.take(notice(position, size))
    assert [frame.position for frame in relay.since(0) or []] == list(range(1, 11))
    assert relay.take(notice(11, size))
    assert relay.since(0) is None
    assert [frame.position for frame in relay.since(9) or []] == [10, 11]
    assert relay.since(11) == []


def test_a_relay_that_is_behind_answers_nobody_from_its_window() -> None:
    relay = Relay()
    relay.start_at(3)
    assert not relay.take(notice(5))
    assert relay.behind()
    assert relay.since(3) is None
    assert relay.take(notice(4))
    assert relay.take(notice(5))
    assert not relay.behind()


@pytest.mark.req("STR-001")
def test_a_later_segment_keeps_its_start_mark_for_whoever_joins_and_in_joined_pieces() -> None:
    relay = Relay()
    first, _ = relay.add({**piece("Then ", 0), "segment": 1, "segment_start": True}, "raw")
    second, _ = relay.add({**piece("more", 5), "segment": 1}, "raw")
    (whole,) = relay.open_texts()
    (merged,) = joined([*first, *second])
    for delta in (whole, merged):
        assert isinstance(delta, Delta)
        assert (delta.starts, delta.offset, delta.piece) == (True, 0, "Then more")


def test_pieces_of_different_segments_and_journal_frames_stay_apart_and_in_order() -> None:
    relay = Relay()
    one, _ = relay.add(piece("a", 0), "raw")
    other, _ = relay.add({**piece("b", 0), "kind": "thinking"}, "raw")
    again, _ = relay.add(piece("c", 1), "raw")
    frames = joined([*one, *other, notice(1), *again])
    assert [getattr(frame, "piece", frame.event) for frame in frames] == ["a", "b", "notice", "c"]

"""Frames on their way to readers, encoded once and shared by all of them."""

import re
from typing import Any, Final

import orjson

from agents.journal.frames import frame as public_frame
from agents.journal.replay import Shown

# Valid inside JSON text but line ends to many readers of event streams.
_LINE_ENDS: Final = re.compile("[\x85\u2028\u2029]")

SegmentKey = tuple[str, str, int]  # turn id, kind, segment number


class Frame:
    """One encoded frame. `position` is 0 for frames that are not in the journal."""

    __slots__ = ("_event_stream", "event", "position", "segment", "size", "text", "turn_id")

    def __init__(
        self,
        text: str,
        *,
        event: str,
        position: int = 0,
        turn_id: str | None = None,
        segment: int | None = None,
    ) -> None:
        self.text = text
        self.event = event
        self.position = position
        self.turn_id = turn_id
        self.segment = segment
        self.size = len(text)
        self._event_stream: bytes | None = None

    def event_stream(self) -> bytes:
        """The frame as one server-sent event, made once however many read it."""
        if self._event_stream is None:
            data = _LINE_ENDS.sub(lambda end: f"\\u{ord(end.group()):04x}", self.text)
            marker = f"id: {self.position}\n" if self.position else ""
            self._event_stream = f"{marker}event: {self.event}\ndata: {data}\n\n".encode()
        return self._event_stream


class Delta(Frame):
    """A piece of an open segment. `offset` counts the characters before it."""

    __slots__ = ("key", "offset", "piece", "starts")

    def __init__(
        self, key: SegmentKey, offset: int, piece: str, *, starts: bool, text: str | None = None
    ) -> None:
        self.key = key
        self.offset = offset
        self.piece = piece
        self.starts = starts
        super().__init__(
            _encode_delta(key, offset, piece, starts) if text is None else text,
            event="delta",
            turn_id=key[0],
        )


def durable(value: dict[str, Any], text: str) -> Frame:
    """A journal frame that arrived or was read, with its encoded form."""
    data = value["data"]
    # What is still being built goes on under the same number.
    segment = data.get("segment") if data.get("state") != "building" else None
    return Frame(
        text,
        event=value["event"],
        position=value["position"],
        turn_id=value["turn_id"],
        segment=segment if isinstance(segment, int) else None,
    )


def of_entry(entry: Shown) -> Frame:
    """A journal entry as a frame."""
    value = public_frame(entry)
    return durable(value, orjson.dumps(value).decode())


def joined(batch: list[Frame]) -> list[Frame]:
    """A backlog with neighbouring pieces of a segment put together: fewer, larger messages."""
    merged: list[Frame] = []
    run: list[Delta] = []
    for frame in batch:
        if isinstance(frame, Delta):
            if run and (
                run[-1].key != frame.key
                or run[-1].offset + len(run[-1].piece) != frame.offset
                or frame.starts
            ):
                merged.append(_one(run))
                run = []
            run.append(frame)
            continue
        if run:
            merged.append(_one(run))
            run = []
        merged.append(frame)
    if run:
        merged.append(_one(run))
    return merged


def _one(run: list[Delta]) -> Delta:
    if len(run) == 1:
        return run[0]
    first = run[0]
    return Delta(
        first.key, first.offset, "".join([delta.piece for delta in run]), starts=first.starts
    )


def _encode_delta(key: SegmentKey, offset: int, piece: str, starts: bool) -> str:
    turn_id, kind, segment = key
    return orjson.dumps(
        {
            "event": "delta",
            "turn_id": turn_id,
            "kind": kind,
            "segment": segment,
            "segment_start": starts,
            "offset": offset,
            "text": piece,
        }
    ).decode()

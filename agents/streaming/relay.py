"""What one conversation's readers in this process share: the newest journal frames, encoded, and
the text of segments that are still being written.

Pure bookkeeping: no clock, no network, no database. Appending costs the same however long a
segment is; texts are put together only when somebody joins.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

from agents.journal.frames import TERMINALS, Kind
from agents.streaming.wire import Delta, Frame, SegmentKey
from audit.limits import limit

WINDOW_BYTES: Final = limit(
    "streaming.window", 1_048_576, "bytes", "Newest frames kept for readers that reconnect."
)
SEGMENT_CHARACTERS: Final = 1_048_576  # a longer segment is delivered by its durable message alone
HELD_PIECES: Final = 256  # pieces kept while the text before them is asked for
ENDED_TURNS: Final = 32  # remembered so that a straggler's pieces are not shown after the end

# Durable frames with which a segment is whole, and the kind of its pieces.
_WHOLE: Final = {
    str(Kind.ASSISTANT_MESSAGE): "text",
    str(Kind.THINKING): "thinking",
    str(Kind.ARTIFACT_BUILDING): "artifact",
}
_TERMINALS: Final = frozenset(str(kind) for kind in TERMINALS)


@dataclass
class Segment:
    """A segment being written: how much went out, its text, pieces that wait for a gap to close."""

    starts: bool
    length: int = 0
    pieces: list[str] = field(default_factory=list)
    held: dict[int, Delta] = field(default_factory=dict)


class Relay:
    """One conversation in this process.

    `position` is the last journal position handed to readers, None until the first reader fixed
    it. `wanted` is the highest position known to exist; while it is ahead the journal is read.
    """

    def __init__(self) -> None:
        self.position: int | None = None
        self.wanted = 0
        self._window: deque[Frame] = deque()
        self._window_bytes = 0
        self._segments: dict[SegmentKey, Segment] = {}
        self._closed: set[SegmentKey] = set()
        self._ended: deque[str] = deque(maxlen=ENDED_TURNS)

    def start_at(self, position: int) -> None:
        """Fix where the relay is; only before anything was handed out."""
        if self.position is None:
            self.position = position
            self.wanted = max(self.wanted, position)

    def take(self, frame: Frame) -> bool:
        """Accept a journal frame: True when it is the next one and must be handed out.

        Repeats are ignored. A frame further ahead only moves `wanted`.
        """
        self.wanted = max(self.wanted, frame.position)
        if self.position is None or frame.position != self.position + 1:
            return False
        self.position = frame.position
        self._window.append(frame)
        self._window_bytes += frame.size
        while self._window_bytes > WINDOW_BYTES:
            self._window_bytes -= self._window.popleft().size
        self.supersede(frame)
        return True

    def behind(self) -> bool:
        """Whether the journal holds frames that were not handed out."""
        return self.position is not None and self.position < self.wanted

    def since(self, position: int) -> list[Frame] | None:
        """The frames after a position, or None when they must be read from the journal."""
        if self.position is None or self.behind():
            return None
        missing = self.position - position
        if missing <= 0:
            return []
        if missing > len(self._window):
            return None
        return list(self._window)[-missing:]

    def supersede(self, frame: Frame) -> None:
        """Forget the pieces that a durable frame replaces."""
        if frame.turn_id is None:
            return
        if frame.event in _TERMINALS:
            self._ended.append(frame.turn_id)
            self._segments = {
                key: segment for key, segment in self._segments.items() if key[0] != frame.turn_id
            }
            self._closed = {key for key in self._closed if key[0] != frame.turn_id}
        elif frame.event in _WHOLE and frame.segment is not None:
            key = (frame.turn_id, _WHOLE[frame.event], frame.segment)
            self._segments.pop(key, None)
            self._closed.add(key)

    def add(self, value: dict[str, Any], text: str) -> tuple[list[Delta], bool]:
        """Accept a live piece: what to hand out now, and whether earlier text must be asked for.

        Repeats are skipped, overlaps trimmed, and a piece after a gap waits for the gap to close.
        """
        key = (value["turn_id"], value["kind"], value["segment"])
        if key in self._closed or key[0] in self._ended:
            return [], False
        piece, offset, resumed = value["text"], value["offset"], value.get("resume", False)
        segment = self._segments.get(key)
        if segment is None:
            segment = self._segments[key] = Segment(starts=value["segment_start"])
        if offset > segment.length:
            if len(segment.held) < HELD_PIECES:
                segment.held[offset] = Delta(key, offset, piece, starts=False)
            return [], True
        if offset == 0 and value["segment_start"]:
            segment.starts = True
        known = segment.length - offset
        if known >= len(piece):
            return [], False
        if known or resumed:
            starts = segment.starts and segment.length == 0
            delta = Delta(key, segment.length, piece[known:], starts=starts)
        else:
            delta = Delta(key, offset, piece, starts=value["segment_start"], text=text)
        ready = [delta]
        self._extend(segment, delta)
        if segment.held:
            ready += self._release(segment)
        if segment.length > SEGMENT_CHARACTERS:
            del self._segments[key]
            self._closed.add(key)
        return ready, bool(segment.held)

    def open_texts(self) -> list[Delta]:
        """For somebody who joins: one piece per open segment, with its whole text so far."""
        so_far = []
        for key, segment in self._segments.items():
            if not segment.length:
                continue
            text = "".join(segment.pieces)
            segment.pieces = [text]
            so_far.append(Delta(key, 0, text, starts=segment.starts))
        return so_far

    def _extend(self, segment: Segment, delta: Delta) -> None:
        segment.pieces.append(delta.piece)
        segment.length += len(delta.piece)

    def _release(self, segment: Segment) -> list[Delta]:
        """Held pieces that now follow on, trimmed where they overlap."""
        ready = []
        for offset in sorted(segment.held):
            if offset > segment.length:
                break
            delta = segment.held.pop(offset)
            known = segment.length - offset
            if known < len(delta.piece):
                rest = Delta(delta.key, segment.length, delta.piece[known:], starts=False)
                ready.append(rest)
                self._extend(segment, rest)
        return ready

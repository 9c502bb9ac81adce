"""A turn's engine events, rebuilt from its journal after its worker was lost.

What was committed is replayed; what was not is done again. A read whose result is missing is run
again; a write that had begun is not, because its outcome is unknown.
"""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

import orjson

from agents.engine.events import (
    BatchSettled,
    Began,
    CallRequested,
    End,
    Event,
    ModelAnswered,
    ToolSettled,
)
from agents.journal import replay
from agents.journal.frames import Kind
from agents.journal.models import Entry
from tools.boundary.contract import ToolCall

Segments = dict[str, int]
BEGINNING: Final[tuple[tuple[Event, ...], Segments]] = ((Began(),), {})


def rebuild(run_id: UUID, fence: int) -> tuple[tuple[Event, ...], Segments]:
    """The committed events in order, and the number of the next segment of each kind.

    Lost workers may have shown segments that were never journaled, at most one for each fence,
    so numbers go on beyond them: a client must never take new text for a repeat.
    """
    events: list[Event] = [Began()]
    journaled: Segments = {"text": 0, "thinking": 0}
    steps: dict[int, list[Entry]] = {}
    for entry in replay.of_run(run_id):
        if entry.kind == Kind.ASSISTANT_MESSAGE:
            journaled["text"] = entry.data["segment"] + 1
        elif entry.kind == Kind.THINKING:
            journaled["thinking"] = entry.data["segment"] + 1
        elif entry.kind in (Kind.TOOL_STARTED, Kind.TOOL_ENDED):
            steps.setdefault(entry.hidden["step"], []).append(entry)
    for step in sorted(steps):
        events += _step(step, steps[step])
    return tuple(events), {kind: number + fence - 1 for kind, number in journaled.items()}


def _step(step: int, entries: list[Entry]) -> list[Event]:
    """A step with calls: its answer, and its batch if every call has a result."""
    started = [entry for entry in entries if entry.kind == Kind.TOOL_STARTED]
    ended = {entry.data["call_id"]: entry for entry in entries if entry.kind == Kind.TOOL_ENDED}
    calls = tuple(
        CallRequested(entry.data["call_id"], entry.data["name"], entry.hidden["unreadable"] is None)
        for entry in started
    )
    cut = any(entry.hidden["truncated"] for entry in started)
    answered = ModelAnswered(
        step=step,
        has_text=True,
        calls=calls,
        end=End.TRUNCATED if cut else End.TOOL_CALLS,
    )
    if len(ended) < len(started):
        return [answered]
    results = tuple(
        ToolSettled(
            call.call_id,
            ended[call.call_id].data["outcome"],
            ended[call.call_id].hidden["ends_turn"],
        )
        for call in calls
    )
    return [answered, BatchSettled(step, results)]


@dataclass(frozen=True)
class Batch:
    """A committed step's calls as they were journaled, and the results that exist."""

    calls: tuple[ToolCall, ...]
    settled: dict[str, ToolSettled]


def batch(run_id: UUID, step: int) -> Batch:
    """The batch of a step that was committed before this worker took over."""
    calls, settled = [], {}
    for entry in replay.of_run(run_id):
        if entry.kind not in (Kind.TOOL_STARTED, Kind.TOOL_ENDED) or entry.hidden["step"] != step:
            continue
        call_id = entry.data["call_id"]
        if entry.kind == Kind.TOOL_ENDED:
            settled[call_id] = ToolSettled(
                call_id, entry.data["outcome"], entry.hidden["ends_turn"]
            )
            continue
        unreadable = entry.hidden["unreadable"]
        calls.append(
            ToolCall(
                call_id=call_id,
                step=step,
                ordinal=entry.hidden["ordinal"],
                name=entry.data["name"],
                arguments=None if unreadable else orjson.loads(entry.hidden["arguments"]),
                unreadable=unreadable,
                provider_id=entry.hidden["provider_id"],
            )
        )
    return Batch(tuple(calls), settled)

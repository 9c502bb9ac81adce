"""A turn's engine events, rebuilt from its journal after its worker was lost or it had to wait.

What was committed is replayed; what was not is done again. A read whose result is missing is run
again; a write that had begun is not, because its outcome is unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson

from agents.engine import conduct
from agents.engine.conduct import Conduct
from agents.engine.events import (
    BatchSettled,
    Began,
    CallRequested,
    Checkpointed,
    End,
    Event,
    ModelAnswered,
)
from agents.journal import replay
from agents.journal.frames import Kind
from agents.journal.models import Entry
from agents.turns import offers, toolcalls
from agents.turns.actions import Actions
from agents.turns.offers import StepOffer
from tools.boundary import facts
from tools.boundary.contract import Json, ToolCall, ToolDescriptor
from tools.boundary.facts import CallFacts

Segments = dict[str, int]
Catalogue = Mapping[str, ToolDescriptor]
TOOL_KINDS: Final = (Kind.TOOL_STARTED, Kind.TOOL_ENDED)
MARKS: Final = (Kind.AGENT_RUN_STARTED, Kind.AGENT_RUN_WAITING, Kind.AGENT_RUN_RESUMED)


@dataclass(frozen=True)
class Kept:
    """One settled call as the run's memory takes it in."""

    facts: CallFacts
    model_view: str
    member_view: Json


@dataclass(frozen=True)
class Past:
    """What is committed of a turn.

    `segments` numbers the next segment of each kind. `settled` holds the results in the order in
    which they were journaled, `conduct` and `actions` what they have come to. `steers` are the
    messages taken into the turn. `moments` says when it began to work and to wait; `worked_s` is
    the working time in seconds. `waited` says that the run comes from waiting and not from a lost
    worker.
    """

    events: tuple[Event, ...] = (Began(),)
    segments: Segments = field(default_factory=dict)
    settled: tuple[Kept, ...] = ()
    conduct: Conduct = field(default_factory=Conduct)
    actions: Actions = field(default_factory=Actions)
    steers: tuple[str, ...] = ()
    moments: tuple[tuple[str, datetime], ...] = ()
    worked_s: float = 0.0
    waited: bool = False


def beginning(required_tool: str) -> Past:
    """The past of a turn that begins now."""
    return Past(conduct=Conduct(owed=required_tool))


def rebuild(run_id: UUID, fence: int, *, required_tool: str = "") -> Past:
    """What is committed, in order, when a run is taken up again.

    Lost workers may have shown segments that were never journaled, at most one for each fence,
    so numbers go on beyond them: a client must never take new text for a repeat.
    """
    entries = replay.of_run(run_id)
    journaled: Segments = {"text": 0, "thinking": 0, "artifact": 0}
    for entry in entries:
        if entry.kind == Kind.ASSISTANT_MESSAGE:
            journaled["text"] = entry.data["segment"] + 1
        elif entry.kind == Kind.THINKING:
            journaled["thinking"] = entry.data["segment"] + 1
        elif entry.kind == Kind.ARTIFACT_BUILDING:
            journaled["artifact"] = max(journaled["artifact"], entry.data["segment"] + 1)
    actions = Actions()
    actions.replayed(entries)
    events, followed = _events(entries, Conduct(owed=required_tool))
    return Past(
        events=events,
        segments={kind: number + fence - 1 for kind, number in journaled.items()},
        settled=tuple(_kept(entry) for entry in entries if entry.kind == Kind.TOOL_ENDED),
        conduct=followed,
        actions=actions,
        steers=tuple(
            entry.hidden["message"] for entry in entries if entry.kind == Kind.STEER_APPLIED
        ),
        moments=tuple((entry.kind, entry.at) for entry in entries if entry.kind in MARKS),
        waited=_is_waiting(entries),
    )


def worked_s(moments: Sequence[tuple[str, datetime]], now: datetime) -> float:
    """Seconds from the start until now in which the turn did not wait. A lost worker's time
    counts until the run was taken up again.
    """
    since: datetime | None = None
    total = 0.0
    for kind, at in moments:
        if kind == Kind.AGENT_RUN_WAITING and since is not None:
            total += (at - since).total_seconds()
            since = None
        elif kind in (Kind.AGENT_RUN_STARTED, Kind.AGENT_RUN_RESUMED) and since is None:
            since = at
    if since is not None:
        total += (now - since).total_seconds()
    return total


def _is_waiting(entries: Sequence[Entry]) -> bool:
    """Whether the run rests: nothing of its own came after it began to wait."""
    seen = [entry.kind for entry in entries if entry.kind in MARKS]
    return bool(seen) and seen[-1] == Kind.AGENT_RUN_WAITING


def _events(entries: Sequence[Entry], following: Conduct) -> tuple[tuple[Event, ...], Conduct]:
    """Committed steps in order, each after the boundary that came before it; at the end the input
    that was taken for a step that was not committed.
    """
    events: list[Event] = [Began()]
    steps, taken = _by_step(entries)
    for step, of_step in sorted(steps.items()):
        events += [Checkpointed(taken=of_step.taken), *of_step.events()]
        last = events[-1]
        if isinstance(last, BatchSettled):
            following, verdict = conduct.follow(
                following, of_step.calls(), last.results, parked=of_step.waited()
            )
            events[-1] = BatchSettled(step, last.results, verdict.closes)
    if taken:
        events.append(Checkpointed(taken=taken))
    return tuple(events), following


@dataclass
class _Step:
    """What the journal holds of one model step; `taken` counts steers applied before it."""

    number: int
    taken: int = 0
    has_text: bool = False
    followed: bool = False
    started: list[Entry] = field(default_factory=list)
    ended: dict[str, Entry] = field(default_factory=dict)

    def calls(self) -> tuple[CallRequested, ...]:
        return tuple(_requested(entry) for entry in self.started)

    def waited(self) -> bool:
        """Whether a call of the batch had to wait for a person."""
        return any(entry.hidden["waited"] for entry in self.ended.values())

    def events(self) -> list[Event]:
        """The step's answer, and its batch if every call has a result."""
        calls = self.calls()
        cut = any(entry.hidden["truncated"] for entry in self.started)
        end = End.TOOL_CALLS if calls else End.COMPLETE
        answered = ModelAnswered(
            step=self.number,
            has_text=self.has_text or bool(calls),
            calls=calls,
            end=End.TRUNCATED if cut else end,
        )
        if not calls or len(self.ended) < len(calls):
            return [answered]
        results = tuple(
            toolcalls.settled(facts.from_json(self.ended[call.call_id].hidden["facts"]))
            for call in calls
        )
        return [answered, BatchSettled(self.number, results)]


def _by_step(entries: Sequence[Entry]) -> tuple[dict[int, _Step], int]:
    """Steps that were committed, and how much input was taken after the last one. An answer
    without calls is a step only when input followed it: with it the turn would have ended.
    """
    steps: dict[int, _Step] = {}
    taken = 0
    for entry in entries:
        if entry.kind == Kind.STEER_APPLIED:
            taken += 1
            for step in steps.values():
                step.followed = True
        elif entry.kind == Kind.ASSISTANT_MESSAGE and not entry.hidden["excluded"]:
            step = steps.setdefault(entry.hidden["step"], _Step(entry.hidden["step"], taken))
            step.has_text, taken = True, 0
        elif _tells_of_call(entry):
            step = steps.setdefault(entry.hidden["step"], _Step(entry.hidden["step"], taken))
            taken = 0
            if entry.kind == Kind.TOOL_STARTED:
                step.started.append(entry)
            else:
                step.ended[entry.data["call_id"]] = entry
    committed = {n: step for n, step in steps.items() if step.started or step.followed}
    return committed, taken


def _tells_of_call(entry: Entry) -> bool:
    """Whether it is a call or a result, and not only the sign that a queued call has begun."""
    return entry.kind in TOOL_KINDS and not entry.hidden.get("excluded")


def _requested(entry: Entry) -> CallRequested:
    """The engine's view of a journaled call."""
    return toolcalls.requested(_call(entry), writes=entry.data["kind"] == "write")


def _call(entry: Entry) -> ToolCall:
    unreadable = entry.hidden["unreadable"]
    return ToolCall(
        call_id=entry.data["call_id"],
        step=entry.hidden["step"],
        ordinal=entry.hidden["ordinal"],
        name=entry.data["name"],
        arguments=None if unreadable else orjson.loads(entry.hidden["arguments"]),
        unreadable=unreadable,
        provider_id=entry.hidden["provider_id"],
        step_snapshot_id=entry.hidden["snapshot"]["id"],
    )


def _kept(entry: Entry) -> Kept:
    hidden: dict[str, Any] = entry.hidden
    return Kept(facts.from_json(hidden["facts"]), hidden["model_view"], entry.data["result"])


@dataclass(frozen=True)
class Batch:
    """A committed step's calls as they were journaled, the results that exist, and the offer the
    calls came from. `waited` says that some of them had to wait for a person.
    """

    calls: tuple[ToolCall, ...]
    settled: dict[str, CallFacts]
    offer: StepOffer
    waited: bool = False


def batch(run_id: UUID, step: int, catalogue: Catalogue) -> Batch:
    """The batch of a step that was committed before this worker took over."""
    calls: list[ToolCall] = []
    results: dict[str, CallFacts] = {}
    offer: StepOffer | None = None
    waited = False
    for entry in replay.of_run(run_id):
        waited = waited or (offer is not None and entry.kind == Kind.AGENT_RUN_WAITING)
        if not _tells_of_call(entry) or entry.hidden["step"] != step:
            continue
        if entry.kind == Kind.TOOL_ENDED:
            results[entry.data["call_id"]] = facts.from_json(entry.hidden["facts"])
            continue
        offer = offers.thawed(entry.hidden["snapshot"], catalogue)
        calls.append(_call(entry))
    assert offer is not None, "a batch that is owed has calls"
    return Batch(tuple(calls), results, offer, waited)

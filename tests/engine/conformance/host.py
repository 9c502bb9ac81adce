"""A host of the engine's protocol for a scripted model, with the trace it leaves.

The model is a function of the history it is shown, so that two controllers that show it the same
get the same. Everything a host is held to is checked here at once: calls are answered exactly
once before the next request, input enters once, and there is one terminal.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from agents.engine import conduct
from agents.engine.conduct import Conduct
from agents.engine.controllers.host import Controller
from agents.engine.effects import (
    CallModel,
    Checkpoint,
    Compact,
    Intent,
    RejectTools,
    RunTools,
    Settle,
    Terminal,
    Wait,
)
from agents.engine.events import (
    BatchParked,
    BatchSettled,
    Began,
    CallRequested,
    Checkpointed,
    Compacted,
    End,
    Event,
    ModelAnswered,
    ToolSettled,
)

History = Sequence[str]


@dataclass(frozen=True)
class Reply:
    """What the scripted model says: text, calls by tool name, or a way to fail."""

    text: str = ""
    calls: tuple[str, ...] = ()
    end: End = End.COMPLETE
    failure: str = ""
    streams_for_ever: bool = False


Model = Callable[[History], Reply]
# When steers arrive, as texts by moment: `begin`, `step 1` (as it opens), `call t1` (while it
# runs), `end 1` (its results are in) and `settle` (an ordinary end is about to be written).
Steers = Mapping[str, tuple[str, ...]]
Seen = TypeVar("Seen", bound=Event)
ENDLESS = "endless"  # a tool that does not come back by itself


class ScriptedHost:
    """Carries out effects against the script.

    `trace` holds host events in order, `history` what the model sees, `events` what a journal
    would give back. `streaming` and `running` tell that a model or tool is at work.
    """

    def __init__(
        self,
        controller: Controller,
        model: Model,
        *,
        steers: Steers | None = None,
        fails: Collection[str] = (),
        asks_for: Collection[str] = (),
    ) -> None:
        self.controller = controller
        self.trace: list[str] = []
        self.history: list[str] = ["U1"]
        self.events: list[Event] = []
        self.terminals: list[Settle] = []
        self.streaming = asyncio.Event()
        self.running = asyncio.Event()
        self._model = model
        self._steers = dict(steers or {})
        self._fails = fails
        self._asks_for = set(asks_for)
        self._conduct = Conduct()
        self._told: list[str] = []
        self._open: dict[str, CallRequested] = {}
        self._uncommitted = ""

    async def drive(self) -> Intent:
        """Work a turn from its beginning, as a driver does."""
        self.trace.append("input.accepted U1")
        self._arrive("begin")
        return await self._work([self._seen(Began())])

    async def resume(self, controller: Controller) -> Intent:
        """Another worker takes the turn up from its journal; what waited has been approved."""
        self.controller = controller
        self.trace.append("resumed")
        self._asks_for.clear()
        self.events = [event for event in self.events if not isinstance(event, BatchParked)]
        self._conduct = self._conduct_so_far()
        return await self._work(list(self.events))

    def stop(self) -> Settle:
        """The member pressed Stop, and what was under way has been cancelled."""
        self.trace.append("stop.accepted")
        self._uncommitted = ""
        intent = self.controller.abort()
        if not self.terminals:
            self._settle(intent)
        return intent

    async def checkpoint(self, effect: Checkpoint) -> Checkpointed:
        self._commit()
        return self._seen(Checkpointed(taken=self._take()))

    async def compact(self, effect: Compact) -> Compacted:
        self.trace.append(f"compact {effect.step}")
        return self._seen(Compacted())

    async def call_model(self, effect: CallModel) -> ModelAnswered:
        if effect.nudge is not None:
            self._uncommitted = ""
        self._commit()
        assert not self._open, "every call is answered before the next request"
        self._arrive(f"step {effect.step}")
        self.trace.append(f"model.open {effect.step}")
        reply = self._model(tuple(self.history))
        if reply.streams_for_ever:
            self.streaming.set()
            await asyncio.Event().wait()
        calls = tuple(
            CallRequested(f"{effect.step}-{n}-{name}", name, digest=name)
            for n, name in enumerate(reply.calls)
        )
        if not reply.failure and (reply.text or calls):
            self._uncommitted = reply.text
            said = " ".join(filter(None, [reply.text, *reply.calls]))
            self.trace.append(f"model.commit {effect.step} {said}")
        answered = ModelAnswered(
            effect.step, bool(reply.text), calls, reply.end, reply.failure, payload="p"
        )
        return self._seen(answered)

    async def run_tools(self, effect: RunTools | RejectTools) -> BatchSettled | BatchParked:
        self._commit()
        if f"call {effect.calls[0].call_id}" not in self.history:
            self.history += [f"call {call.call_id}" for call in effect.calls]
        waiting = tuple(call.call_id for call in effect.calls if call.name in self._asks_for)
        if waiting:
            return self._seen(BatchParked(effect.step, waiting))
        self._open = {call.call_id: call for call in effect.calls}
        rejected = isinstance(effect, RejectTools)
        results = [await self._run(call, rejected=rejected) for call in effect.calls]
        self._conduct, verdict = conduct.follow(self._conduct, effect.calls, results)
        self.trace.append(f"end {effect.step}")
        self._arrive(f"end {effect.step}")
        return self._seen(BatchSettled(effect.step, tuple(results), verdict.closes))

    async def _work(self, events: list[Event]) -> Intent:
        while True:
            intent = await self.controller.run(self, events)
            if isinstance(intent, Wait):
                self.trace.append(f"waiting {intent.reason}")
                return intent
            taken = self._settle(intent)
            if taken is None:
                return intent
            events = [self._seen(taken)]

    async def _run(self, call: CallRequested, *, rejected: bool) -> ToolSettled:
        self.trace.append(f"tool {call.name}")
        self._arrive(f"call {call.name}")
        if call.name == ENDLESS:
            self.running.set()
            await asyncio.Event().wait()
        failed = rejected or call.name in self._fails
        result = ToolSettled(
            call.call_id,
            "error" if failed else "success",
            tool=call.name,
            arguments_digest=call.digest,
            denial="output_truncated" if rejected else "",
        )
        del self._open[call.call_id]
        self.history.append(f"result {call.call_id}")
        return result

    def _settle(self, intent: Settle) -> Checkpointed | None:
        """Write the terminal, or take what came in before an ordinary one."""
        if intent.terminal is Terminal.COMPLETED:
            self._arrive("settle")
        if intent.terminal in (Terminal.COMPLETED, Terminal.SALVAGED):
            self._commit()
        if intent.terminal is Terminal.COMPLETED and self._told:
            return Checkpointed(taken=self._take())
        assert not self.terminals, "a turn has one terminal"
        self.terminals.append(intent)
        self.trace += [f"steer.rejected {text}" for text in self._told]
        self._told.clear()
        self.trace.append(f"terminal {intent.terminal} {intent.reason}".rstrip())
        return None

    def _arrive(self, moment: str) -> None:
        for text in self._steers.pop(moment, ()):
            self.trace.append(f"steer.accepted {text}")
            self._told.append(text)
            self.controller.steer()

    def _take(self) -> int:
        taken = len(self._told)
        self.history += self._told
        self.trace += [f"steer.applied {text}" for text in self._told]
        self._told.clear()
        return taken

    def _commit(self) -> None:
        """What the last sample said enters the history once it was taken."""
        if self._uncommitted:
            self.history.append(self._uncommitted)
            self._uncommitted = ""

    def _conduct_so_far(self) -> Conduct:
        following, calls = Conduct(), ()
        for event in self.events:
            if isinstance(event, ModelAnswered):
                calls = event.calls
            elif isinstance(event, BatchSettled):
                following, _ = conduct.follow(following, calls, event.results)
        return following

    def _seen(self, event: Seen) -> Seen:
        self.events.append(event)
        return event

"""The tool calls of one model step: committed together, run through the boundary, settled once.

Reads run side by side, writes alone and in order. Results are journaled as they come; denials
wait for the whole batch, because what the model may read of them depends on all of it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from agents.engine import bounds, conduct
from agents.engine.conduct import Conduct
from agents.engine.events import BatchParked, BatchSettled, CallRequested, ToolSettled
from agents.guardrails.chain import Guard
from agents.journal.append import Draft
from agents.journal.offloading import in_database, to_its_end
from agents.turns import answers, authority, refusing, toolcalls
from agents.turns.admission import Admitted
from agents.turns.answers import Pending
from agents.turns.inactivity import Silence
from agents.turns.offers import StepOffer
from artifacts import outputs
from audit.reasons import Reason
from tools.boundary import facts
from tools.boundary.contract import Parked, Ports, ToolCall, ToolKind, ToolOutcome
from tools.boundary.execution import handle_tool_exec
from tools.boundary.memory import RunMemory


class Batches:
    """Runs a turn's batches, one after another, and keeps its rules of conduct.

    `parked` holds the calls that wait for a person after a batch that parked. Once `halted`, no
    call is dispatched any more.
    """

    def __init__(
        self, admitted: Admitted, memory: RunMemory, guard: Guard, silence: Silence
    ) -> None:
        self.conduct: Conduct = admitted.past.conduct
        self.parked: list[Parked] = []
        self.halted = False
        self._admitted = admitted
        self._actions = admitted.past.actions
        self._guard = guard
        self._silence = silence
        settings = admitted.settings
        self._ports = Ports(
            authority=authority.now,
            in_database=in_database,
            memory=memory,
            compress=settings is not None and settings.compress_tool_results,
            keep_outputs=outputs.keep,
        )
        self._open: dict[str, ToolCall] = {}
        self._dispatched: set[str] = set()
        self._held: dict[str, ToolOutcome] = {}
        self._is_over = False
        self._waited = False

    async def run(
        self,
        step: int,
        calls: Sequence[ToolCall],
        offer: StepOffer,
        settled: dict[str, ToolSettled],
        *,
        waited: bool = False,
    ) -> BatchSettled | BatchParked:
        """Settle the calls that have no result yet. `waited` says that the batch had to wait for a
        person before.
        """
        self._waited = waited
        self._open = {call.call_id: call for call in calls if call.call_id not in settled}
        requested = self._requested(calls, offer)
        blocked = conduct.blocked(self.conduct, requested)
        ports = replace(self._ports, offered=offer.tools)
        self._held, self._is_over = {}, any(result.ends_turn for result in settled.values())
        groups = self._groups(list(self._open.values()), offer)
        for number, group in enumerate(groups):
            if not self._may_begin(group, offer):
                continue
            left = len(group)
            async with aclosing(self._group(group, ports, blocked)) as ends:
                async for ended in ends:
                    results = self._sorted(ended)
                    left -= len(ended)
                    following = [] if left else groups[number + 1 :]
                    settled |= await self._end(results, self._next(following, offer))
        if self._is_over:
            await self._stop(ports)
        elif self.parked:
            await self._end([toolcalls.untold(denied) for denied in self._held.values()])
            return BatchParked(step, tuple(waiting.call.call_id for waiting in self.parked))
        return await self._closed(step, requested, settled)

    def first(self, calls: Sequence[ToolCall], offer: StepOffer) -> set[str]:
        """The ids of the calls that begin to execute as soon as their batch is journaled."""
        blocked = conduct.blocked(self.conduct, self._requested(calls, offer))
        groups = self._groups(calls, offer)
        return {call.call_id for call in groups[0]} - blocked.keys() if groups else set()

    def _groups(self, calls: Sequence[ToolCall], offer: StepOffer) -> list[list[ToolCall]]:
        return grouped(calls, lambda call: _is_read(call, offer))

    def _may_begin(self, group: Sequence[ToolCall], offer: StepOffer) -> bool:
        """A write keeps its place after the one that waits for a person."""
        return not self._is_over and (not self.parked or _is_read(group[0], offer))

    def _next(self, groups: Sequence[Sequence[ToolCall]], offer: StepOffer) -> list[Draft]:
        """That the calls of the next group begin, which they do once this is journaled."""
        for group in groups:
            if not self.halted and self._may_begin(group, offer):
                return [toolcalls.begun_draft(call) for call in group]
        return []

    def _sorted(self, ended: Sequence[ToolOutcome | Parked]) -> list[ToolOutcome]:
        """The results to journal now; the others are put where they wait."""
        results = []
        for outcome in ended:
            if isinstance(outcome, Parked):
                self.parked.append(outcome)
                self._dispatched.discard(outcome.call.call_id)
                continue
            self._is_over = self._is_over or outcome.ends_turn is not None
            if outcome.outcome == "denied":
                self._held[outcome.call.call_id] = outcome
            else:
                results.append(outcome)
        return results

    async def _stop(self, ports: Ports) -> None:
        """A result ends the turn: what has not run by now never will, and nobody is asked about
        it.
        """
        self.parked.clear()
        for call_id, call in self._open.items():
            if call_id not in self._held:
                stopped = toolcalls.never_dispatched(call)
                self._held[call_id] = await refusing.refuse(stopped, self._admitted.identity, ports)

    async def reject(
        self,
        step: int,
        calls: Sequence[ToolCall],
        offer: StepOffer,
        settled: dict[str, ToolSettled],
    ) -> BatchSettled:
        """Give every call that has no result the one that says the output limit cut it off."""
        cut = [toolcalls.cut_off(call) for call in calls if call.call_id not in settled]
        self._held = {}
        settled |= await self._end(cut)
        return await self._closed(step, self._requested(calls, offer), settled)

    async def give_up(self) -> None:
        """Settle what a turn that was given up left open: what had begun may have been done, and
        what had not never will be.
        """
        self.halted = True
        await self._end([self._given_up(call) for call in self._open.values()])

    async def _closed(
        self,
        step: int,
        requested: Sequence[CallRequested],
        settled: dict[str, ToolSettled],
    ) -> BatchSettled:
        """Journal the denials, each with as much as the model may read, and close the batch."""
        held = self._held
        denied = {call_id: toolcalls.settled(facts.of(ended)) for call_id, ended in held.items()}
        results = tuple((settled | denied)[call.call_id] for call in requested)
        self.conduct, verdict = conduct.follow(
            self.conduct, requested, results, parked=self._waited
        )
        await self._end(
            [
                held[call.call_id]
                if call.call_id in verdict.readable
                else toolcalls.untold(held[call.call_id])
                for call in requested
                if call.call_id in held
            ]
        )
        return BatchSettled(step, results, verdict.closes)

    async def _group(
        self, group: Sequence[ToolCall], ports: Ports, blocked: dict[str, str]
    ) -> AsyncGenerator[list[ToolOutcome | Parked], None]:
        """Run calls side by side; what has ended by the same moment comes together, in order."""
        running = [asyncio.create_task(self._one(call, ports, blocked)) for call in group]
        try:
            while running:
                await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                ended = [task.result() for task in running if task.done()]
                running = [task for task in running if not task.done()]
                yield ended
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _one(
        self, call: ToolCall, ports: Ports, blocked: dict[str, str]
    ) -> ToolOutcome | Parked:
        if self.halted:
            return toolcalls.never_dispatched(call)
        reason = blocked.get(call.call_id)
        if reason is not None:
            ended = refusing.refusal(call, Reason(reason), self.conduct.owed)
            return await refusing.refuse(ended, self._admitted.identity, ports)
        self._dispatched.add(call.call_id)
        outcome = await handle_tool_exec(call, self._admitted.identity, ports)
        self._silence.seen()
        return outcome

    async def _end(
        self, outcomes: Sequence[ToolOutcome], following: Sequence[Draft] = ()
    ) -> dict[str, ToolSettled]:
        """Journal results in one commit, with what they show and what begins after them."""
        drafts: list[Draft] = []
        for outcome in outcomes:
            self._guard.retrieved(outcome.sources)
            self._actions.note(outcome, self._admitted.offered.get(outcome.call.name))
            drafts += toolcalls.result_drafts(outcome, waited=self._waited)
        drafts += following
        if drafts:
            await to_its_end(answers.commit, self._admitted, Pending(), drafts)
        for outcome in outcomes:
            self._open.pop(outcome.call.call_id, None)
        return {outcome.call.call_id: toolcalls.settled(facts.of(outcome)) for outcome in outcomes}

    def _requested(self, calls: Sequence[ToolCall], offer: StepOffer) -> tuple[CallRequested, ...]:
        return tuple(toolcalls.requested(call, writes=not _is_read(call, offer)) for call in calls)

    def _given_up(self, call: ToolCall) -> ToolOutcome:
        if call.call_id in self._held:
            return toolcalls.untold(self._held[call.call_id])
        if call.call_id not in self._dispatched:
            return toolcalls.never_dispatched(call)
        descriptor = self._admitted.offered.get(call.name)
        if descriptor is not None and descriptor.kind is ToolKind.WRITE:
            return toolcalls.unknown(call)
        return toolcalls.broken_off(call)


def grouped(calls: Sequence[ToolCall], is_read: Callable[[ToolCall], bool]) -> list[list[ToolCall]]:
    """Calls in order: neighbouring reads together up to the bound, every write by itself."""
    groups: list[list[ToolCall]] = []
    for call in calls:
        joins = (
            groups
            and is_read(call)
            and is_read(groups[-1][0])
            and len(groups[-1]) < bounds.PARALLEL_READS
        )
        if joins:
            groups[-1].append(call)
        else:
            groups.append([call])
    return groups


def _is_read(call: ToolCall, offer: StepOffer) -> bool:
    """A call of a tool that is not offered changes nothing: it will be denied."""
    descriptor = offer.tools.get(call.name)
    return descriptor is None or descriptor.kind is ToolKind.READ

"""The shared host: carries out what a controller asks, for every controller alike.

It alone holds model access, tools, journal and live delivery. What a step produced is journaled
together with what follows from it, so that an answer and its terminal share one commit.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Final

from django.db import InterfaceError, OperationalError

from agents.engine import bounds, correction, required
from agents.engine.effects import (
    CallModel,
    Checkpoint,
    Compact,
    RejectTools,
    RunTools,
    Settle,
    Terminal,
)
from agents.engine.events import (
    BatchParked,
    BatchSettled,
    CallRequested,
    Checkpointed,
    Compacted,
    End,
    ModelAnswered,
)
from agents.gateway.calls import ModelCallEnded
from agents.gateway.events import EXPLANATIONS
from agents.guardrails.chain import Guard
from agents.guardrails.facts import Tripped
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.journal.offloading import in_database, to_its_end
from agents.turns import (
    answers,
    compaction,
    normaliser,
    offers,
    parking,
    recovery,
    steering,
    toolcalls,
)
from agents.turns.admission import Admitted
from agents.turns.answers import Pending, Spent
from agents.turns.asking import Asking, Sample, payload_of
from agents.turns.batches import Batches
from agents.turns.building import Building
from agents.turns.checkpointing import Checkpoints
from agents.turns.compaction import NotSummedUp
from agents.turns.inactivity import Silence
from agents.turns.live import LivePublisher, LiveTurn
from agents.turns.normaliser import Closing
from agents.turns.offers import StepOffer
from agents.turns.reasoning import Reasoning
from agents.turns.steering import Steer, SteersWaiting
from agents.turns.transcript import History, Transcripts
from audit.canonical import storable
from audit.reasons import Reason
from tools.boundary import exposure
from tools.boundary.contract import ToolCall, ToolKind
from tools.boundary.memory import RunMemory

ANSWERS: Final = (Terminal.COMPLETED, Terminal.SALVAGED)  # ends that take the last sample
SETTLE_PAUSES_S: Final = (0.2, 1.0)  # before an answer is written again over a new connection


class TurnHost:
    """One turn's host. Made for an admitted run; used by one task. `told` is called for each
    message that the turn was told meanwhile, as it is taken.
    """

    def __init__(
        self,
        admitted: Admitted,
        publisher: LivePublisher,
        transcripts: Transcripts,
        silence: Silence,
        told: Callable[[], None],
    ) -> None:
        self.admitted = admitted
        self.live = LiveTurn(publisher, admitted.identity.conversation_id, admitted.claim.run_id)
        for kind in self.live.numbers:
            self.live.numbers[kind] = admitted.past.segments.get(kind, 0)
        self.pending = Pending()
        self.spent = Spent()
        self._publisher = publisher
        self._transcripts = transcripts
        self._history = admitted.opening
        self._is_fresh = admitted.opening is not None
        self._may_sum_up = True
        self._silence = silence
        self._told = told
        self._memory = _remembered(admitted)
        self._guard = _guarded(admitted)
        self._checkpoints = Checkpoints(admitted)
        self._reasoning = Reasoning(self._checkpoints, self.live)
        self._building = Building(admitted, self.live, self._guard, self._memory, self._checkpoints)
        self._asking = Asking(
            *(admitted, self.live, self._guard, silence, self.pending, self.spent),
            (self._reasoning, self._building),
        )
        self.batches = Batches(admitted, self._memory, self._guard, silence)
        self._samples = 0
        self._step = _steps(admitted)
        self._offer = StepOffer("", {})
        self._calls: dict[str, ToolCall] = {}
        self._withheld: tuple[int, str] | None = None
        last = admitted.past.events[-1]
        self._closes = last.closes if isinstance(last, BatchSettled) else ""

    async def checkpoint(self, effect: Checkpoint) -> Checkpointed:
        """Take what the turn was told meanwhile into history. What admission has just read is not
        read again.
        """
        self._accept()
        await self._drained()
        taken: list[Steer] = []
        history = self._history
        if not self._is_fresh or history is None or history.is_told:
            read, taken = await to_its_end(self._at_boundary)
            history = read
        self._history, self._is_fresh = history, False
        crowded = self._may_sum_up and history.is_crowded
        return Checkpointed(taken=len(taken), crowded=crowded)

    async def compact(self, effect: Compact) -> Compacted:
        """Replace older history by a summary. Where there is none the oldest is left out instead,
        and the turn does not ask again.
        """
        self._silence.excused(compaction.SUMMARY_S)
        try:
            draft = await compaction.sum_up(
                self.admitted, self._transcripts, self.spent, step=effect.step, by="automatic"
            )
        except NotSummedUp:
            self._may_sum_up = False
            return Compacted(done=False)
        await to_its_end(answers.commit, self.admitted, self.pending.take(), [draft])
        self._silence.seen()
        self._history = None
        return Compacted()

    async def call_model(self, effect: CallModel) -> ModelAnswered:
        """One model request, streamed live; its drafts wait for what the controller decides."""
        self._check_open()
        if effect.nudge is not None:
            self._withheld = None
        if self._history is None:
            self._history = await in_database(self.admitted.history, self._transcripts)
        self._step = effect.step
        self._samples += 1
        sample_id = f"{self.admitted.claim.fence}.{self._samples}"
        offer = offers.freeze(self.live.turn_id, effect.step, sample_id, self._memory.offer())
        messages = self._history.messages
        owed = self.batches.conduct.owed
        sample = await self._asking.ask(effect, messages, offer, owed=owed)
        self._offer = offer
        return self._heard(effect, sample, messages)

    async def run_tools(self, effect: RunTools | RejectTools) -> BatchSettled | BatchParked:
        """Commit the calls, then settle each exactly once, or park what needs a person."""
        self._check_open()
        self._accept()
        settled, waited = {}, False
        if all(call.call_id in self._calls for call in effect.calls):
            calls = [self._calls[call.call_id] for call in effect.calls]
            if isinstance(effect, RunTools):
                self._guard.before_tools([(call.name, _dumped(call.arguments)) for call in calls])
            await self._commit_calls(effect, calls)
            offer = self._offer
        else:
            batch = await in_database(
                recovery.batch, self.live.turn_id, effect.step, self.admitted.offered
            )
            calls, offer, waited = list(batch.calls), batch.offer, batch.waited
            settled = {call_id: toolcalls.settled(kept) for call_id, kept in batch.settled.items()}
        self._history = None  # whatever the controller asks for next comes after these results
        ended: BatchSettled | BatchParked
        if isinstance(effect, RejectTools):
            ended = await self.batches.reject(effect.step, calls, offer, settled)
        else:
            ended = await self.batches.run(effect.step, calls, offer, settled, waited=waited)
        self._closes = ended.closes if isinstance(ended, BatchSettled) else ""
        return ended

    async def settle(self, effect: Settle) -> Checkpointed | None:
        """Write the terminal with everything pending; the last live text goes out before it.

        When the turn was told something that it has not taken up, an ordinary end is not written:
        the answer is, as an earlier part of the turn, and the taken input is returned. A broken
        connection is tried again: an answer once given should not be asked for twice. A commit
        whose reply was lost shows itself as `LeaseLost` the second time.
        """
        if effect.terminal in ANSWERS:
            self._accept()
        await self._drained()
        await self._publisher.drained()
        while True:
            try:
                await self._written(effect)
                return None
            except SteersWaiting:
                self._history, taken = await to_its_end(self._at_boundary, is_told=True)
                if taken:
                    return Checkpointed(taken=len(taken))
                await asyncio.sleep(SETTLE_PAUSES_S[0])  # its author is just taking it back

    async def park(self) -> None:
        """Give the run up until its member has decided about the parked calls."""
        await to_its_end(parking.park, self.admitted, self.batches.parked)

    def keep_partial(self) -> None:
        """After a stop: the text shown so far stays in the trace, out of the model's history."""
        if self._asking.step:
            self.pending.model_calls.append(ModelCallEnded(self._asking.step, None))
            self._asking.cut_short()
        self._withheld = None
        self._draft_texts(self._asking.step, excluded=True)

    async def _written(self, effect: Settle) -> None:
        closing = self._closing(effect)
        for pause_s in SETTLE_PAUSES_S:
            try:
                await to_its_end(answers.settle, self.admitted, closing, effect, self.spent)
                return
            except (OperationalError, InterfaceError):
                await asyncio.sleep(pause_s)
        await to_its_end(answers.settle, self.admitted, closing, effect, self.spent)

    def _closing(self, effect: Settle) -> Pending:
        """What the terminal is written with: the final answer goes through the normaliser. A turn
        that was stopped has none.
        """
        if effect.terminal is Terminal.CANCELLED:
            return self.pending
        drafts = normaliser.closed(
            self.pending.drafts,
            Closing(self.admitted.message, self.admitted.past.actions, self._guard),
            step=self._step,
            segment=self.live.numbers["text"],
        )
        return Pending(drafts, self.pending.model_calls)

    def _at_boundary(self, *, is_told: bool = False) -> tuple[History, list[Steer]]:
        """In the database: the history, with what was told since taken into it. `is_told` says
        that something is known to wait.
        """
        history = self.admitted.history(self._transcripts)
        waits = is_told or history.is_told
        taken = steering.take(self.admitted.claim) if waits else []
        if not taken:
            return history, []
        for steer in taken:
            self._guard.steered(steer.message)
            self._told()
        self.admitted.past.actions.steered()
        answers.commit(self.admitted, self.pending.take(), steers=taken)
        return self.admitted.history(self._transcripts), taken

    def _check_open(self) -> None:
        """Raise `Tripped` when the rules of conduct have ended the turn, whatever its controller
        would do.
        """
        if self._closes:
            raise Tripped(Reason(self._closes))

    def _heard(
        self, effect: CallModel, sample: Sample, messages: list[dict[str, Any]]
    ) -> ModelAnswered:
        """What a sample is for the engine; its texts are kept for what follows from it."""
        completed = sample.completed
        if sample.is_blank:
            self._building.answered(())
            end = End.TRUNCATED if completed.end == "truncated" else End.COMPLETE
            self._draft_texts(effect.step, excluded=True)
            return ModelAnswered(effect.step, False, (), end, payload=payload_of(messages))
        calls = tuple(self._call(effect.step, n, made) for n, made in enumerate(completed.calls))
        self._building.answered(calls)
        rule = ""
        if required.passed_over(self.batches.conduct.owed, calls):
            rule = correction.REQUIRED_TOOL
        elif not calls:
            rule = correction.matched(sample.rules, completed.text)
        failed = completed.failure is not None
        self._withheld = (effect.step, sample.withheld) if sample.withheld and not failed else None
        self._draft_texts(effect.step, excluded=failed)
        return ModelAnswered(
            step=effect.step,
            has_text=bool(completed.text.strip()),
            calls=calls,
            end=End(completed.end),
            failure=str(completed.failure.code) if completed.failure else "",
            rule="" if failed else rule,
        )

    def _accept(self) -> None:
        """The last sample was taken: what was held back of it is shown and kept."""
        if self._withheld is not None:
            step, text = self._withheld
            self._withheld = None
            self.live.add("text", text)
            self._draft_texts(step, excluded=False)

    async def _drained(self) -> None:
        """Nothing else is journaled before the checkpoints that came before it."""
        self.pending.drafts[:0] = await self._checkpoints.drained()
        self.pending.drafts += self._building.dropped()

    def _draft_texts(self, step: int, *, excluded: bool) -> None:
        private = {"step": step, "excluded": excluded}
        self._reasoning.closed()
        for kind, frame in (
            ("thinking", Kind.THINKING),
            ("text", Kind.ASSISTANT_MESSAGE),
        ):
            text = self.live.text(kind)  # type: ignore[arg-type]  # both are delta kinds
            number = self.live.close(kind)  # type: ignore[arg-type]  # as above
            if text.strip():
                data = {"text": self._guard.after_model(text), "segment": number}
                self.pending.drafts.append(Draft(frame, data, private))

    def _call(self, step: int, ordinal: int, made: Any) -> CallRequested:
        call_id = toolcalls.id_of(self.live.turn_id, step, ordinal)
        call = ToolCall(
            call_id=call_id,
            step=step,
            ordinal=ordinal,
            name=storable(made.name),
            arguments=None if made.arguments is None else self._guard.arguments(made.arguments),
            unreadable=EXPLANATIONS[made.refusal] if made.refusal else None,
            provider_id=storable(made.provider_id),
            step_snapshot_id=self._offer.snapshot_id,
        )
        self._calls[call_id] = call
        descriptor = self._offer.tools.get(call.name)
        writes = descriptor is not None and descriptor.kind is ToolKind.WRITE
        return toolcalls.requested(call, writes=writes)

    async def _commit_calls(self, effect: RunTools | RejectTools, calls: list[ToolCall]) -> None:
        await self._drained()
        truncated = isinstance(effect, RejectTools)
        first = set() if truncated else self.batches.first(calls, self._offer)
        drafts = await self._building.written(calls)
        for call in calls:
            begins = call.call_id in first
            drafts.append(
                toolcalls.call_draft(call, self._offer, truncated=truncated, begins=begins)
            )
        await self._publisher.drained()
        await to_its_end(answers.commit, self.admitted, self.pending.take(), drafts)


def _remembered(admitted: Admitted) -> RunMemory:
    """The run's memory, as the workers before left it."""
    discoveries = exposure.discoveries(admitted.discoveries, step_ceiling=bounds.MAX_MODEL_STEPS)
    memory = RunMemory(admitted.offered, discoveries=discoveries)
    for kept in admitted.past.settled:
        memory.observe(kept.facts, kept.model_view, kept.member_view)
    return memory


def _steps(admitted: Admitted) -> int:
    """How many model steps of the turn are committed."""
    return sum(isinstance(event, ModelAnswered) for event in admitted.past.events)


def _guarded(admitted: Admitted) -> Guard:
    """The run's guardrails, with what it has used up."""
    events = admitted.past.events
    return Guard(
        [admitted.message, *admitted.past.steers],
        steps=_steps(admitted),
        rounds=sum(isinstance(event, BatchSettled) for event in events),
    )


def _dumped(arguments: dict[str, Any] | None) -> str:
    """Arguments as text, to tell calls apart."""
    return json.dumps(arguments, sort_keys=True)

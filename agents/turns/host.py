"""The shared host: carries out what a controller asks, for every controller alike.

It alone holds model access, tools, journal and live delivery. What a step produced is journaled
together with what follows from it, so that an answer and its terminal share one commit.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, Final

from django.db import InterfaceError, OperationalError

from agents.engine import bounds
from agents.engine.effects import CallModel, RejectTools, RunTools, Settle
from agents.engine.events import BatchSettled, CallRequested, End, ModelAnswered, ToolSettled
from agents.gateway.connection import Connection
from agents.gateway.events import (
    EXPLANATIONS,
    AttemptFailed,
    Completed,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
    ToolOffer,
)
from agents.gateway.stream import stream
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.journal.offloading import in_database, to_its_end
from agents.prompts import chain
from agents.turns import answers, authority, recovery
from agents.turns.admission import Admitted
from agents.turns.answers import ModelCallEnded, Pending, Spent
from agents.turns.live import LivePublisher, LiveTurn
from agents.turns.toolcalls import call_draft, cut_off, result_drafts
from agents.turns.transcript import Transcripts
from audit import metrics
from audit.canonical import storable
from audit.reasons import Reason
from tools.boundary import exposure
from tools.boundary.contract import Ports, ToolCall, ToolKind, ToolOutcome
from tools.boundary.execution import handle_tool_exec

SETTLE_PAUSES_S: Final = (0.2, 1.0)  # before an answer is written again over a new connection


class TurnHost:
    """One turn's host. Made for an admitted run; used by one task."""

    def __init__(
        self, admitted: Admitted, publisher: LivePublisher, transcripts: Transcripts
    ) -> None:
        self.admitted = admitted
        self.live = LiveTurn(publisher, admitted.identity.conversation_id, admitted.claim.run_id)
        for kind in self.live.numbers:
            self.live.numbers[kind] = admitted.segments.get(kind, 0)
        self.pending = Pending()
        self.spent = Spent()
        self._publisher = publisher
        self._transcripts = transcripts
        self._calls: dict[str, ToolCall] = {}
        self._opening = admitted.opening
        self._asking = 0
        self._has_spoken = False
        self._offers = [ToolOffer(**told) for told in exposure.advertise(admitted.offered.values())]
        self._ports = Ports(
            authority=authority.now, in_database=in_database, offered=admitted.offered
        )

    async def call_model(self, effect: CallModel) -> ModelAnswered:
        """One model request, streamed live; its drafts wait for what the controller decides."""
        messages, self._opening = self._opening, None
        if messages is None:
            messages = await in_database(self.admitted.history, self._transcripts)
        completed = await self._ask(effect.step, self._with_system(messages))
        self._asking = 0
        self._keep(effect.step, completed)
        calls = tuple(self._call(effect.step, n, made) for n, made in enumerate(completed.calls))
        return ModelAnswered(
            step=effect.step,
            has_text=bool(completed.text.strip()),
            calls=calls,
            end=End(completed.end),
            failure=_failure(completed),
        )

    async def run_tools(self, effect: RunTools | RejectTools) -> BatchSettled:
        """Commit the calls, then settle each exactly once: reads side by side, writes alone."""
        settled: dict[str, ToolSettled] = {}
        if all(call.call_id in self._calls for call in effect.calls):
            await self._commit_calls(effect)
            calls = [self._calls[call.call_id] for call in effect.calls]
        else:
            batch = await in_database(recovery.batch, self.live.turn_id, effect.step)
            calls, settled = list(batch.calls), batch.settled
        open_calls = [call for call in calls if call.call_id not in settled]
        if isinstance(effect, RejectTools):
            for call in open_calls:
                settled[call.call_id] = await self._end(cut_off(call))
        else:
            for group in grouped(open_calls, self._is_read):
                outcomes = await asyncio.gather(*(self._run(call) for call in group))
                settled |= {outcome.call_id: outcome for outcome in outcomes}
        return BatchSettled(effect.step, tuple(settled[call.call_id] for call in calls))

    async def settle(self, effect: Settle) -> None:
        """Write the terminal with everything pending; the last live text goes out before it.

        A broken connection is tried again: an answer once given should not be asked for twice. A
        commit whose reply was lost shows itself as `LeaseLost` the second time.
        """
        await self._publisher.drained()
        for pause_s in SETTLE_PAUSES_S:
            try:
                await to_its_end(answers.settle, self.admitted, self.pending, effect, self.spent)
                return
            except (OperationalError, InterfaceError):
                await asyncio.sleep(pause_s)
        await to_its_end(answers.settle, self.admitted, self.pending, effect, self.spent)

    def keep_partial(self) -> None:
        """After a stop: the text shown so far stays in the trace, out of the model's history."""
        if self._asking:
            self.pending.model_calls.append(ModelCallEnded(self._asking, None))
        self._draft_texts(self._asking, excluded=True)

    async def _ask(self, step: int, messages: list[dict[str, Any]]) -> Completed:
        connection = self.admitted.connection
        assert isinstance(connection, Connection), "a refused turn asks no model"
        request = ModelRequest(messages=messages, tools=self._offers)
        self._asking = step
        add = self.live.add
        completed: Completed | None = None
        async with aclosing(stream(connection, request)) as events:
            async for event in events:
                if type(event) is TextDelta:
                    if not self._has_spoken:
                        self._note_first_token()
                    add("text", storable(event.text))
                elif type(event) is ThinkingDelta:
                    add("thinking", storable(event.text))
                elif type(event) is AttemptFailed:
                    self.spent.add(event.usage)
                    self.pending.model_calls.append(ModelCallEnded(step, event))
                elif type(event) is Completed:
                    completed = event
        assert completed is not None, "the gateway ends every request with one outcome"
        return completed

    def _note_first_token(self) -> None:
        self._has_spoken = True
        waited = datetime.now(UTC) - self.admitted.accepted_at
        metrics.first_token(waited.total_seconds())

    def _with_system(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        subject = chain.Subject(
            persona=self.admitted.persona,
            display_name=self.admitted.member_name,
            time_zone=self.admitted.time_zone,
        )
        system = chain.compose(subject, datetime.now(UTC))
        return [{"role": "system", "content": system}, *messages]

    def _keep(self, step: int, completed: Completed) -> None:
        self.spent.add(completed.usage)
        self.pending.model_calls.append(ModelCallEnded(step, completed))
        self._draft_texts(step, excluded=completed.end == "failed")

    def _draft_texts(self, step: int, *, excluded: bool) -> None:
        private = {"step": step, "excluded": excluded}
        for kind, frame in (
            ("thinking", Kind.THINKING),
            ("text", Kind.ASSISTANT_MESSAGE),
        ):
            text = self.live.text(kind)  # type: ignore[arg-type]  # both are delta kinds
            number = self.live.close(kind)  # type: ignore[arg-type]  # as above
            if text.strip():
                data = {"text": text, "segment": number}
                self.pending.drafts.append(Draft(frame, data, private))

    def _call(self, step: int, ordinal: int, made: Any) -> CallRequested:
        call_id = f"{self.live.turn_id.hex[:12]}-{step}-{ordinal}"
        self._calls[call_id] = ToolCall(
            call_id=call_id,
            step=step,
            ordinal=ordinal,
            name=storable(made.name),
            arguments=made.arguments,
            unreadable=EXPLANATIONS[made.refusal] if made.refusal else None,
            provider_id=storable(made.provider_id),
        )
        return CallRequested(call_id, self._calls[call_id].name, made.refusal is None)

    async def _commit_calls(self, effect: RunTools | RejectTools) -> None:
        truncated = isinstance(effect, RejectTools)
        drafts = [
            call_draft(self._calls[call.call_id], self.admitted, truncated=truncated)
            for call in effect.calls
        ]
        await self._publisher.drained()
        await to_its_end(answers.commit, self.admitted, self.pending.take(), drafts)

    def _is_read(self, call: ToolCall) -> bool:
        descriptor = self.admitted.offered.get(call.name)
        return descriptor is None or descriptor.kind is ToolKind.READ

    async def _run(self, call: ToolCall) -> ToolSettled:
        outcome = await handle_tool_exec(call, self.admitted.identity, self._ports)
        assert isinstance(outcome, ToolOutcome), "no tool of this turn asks its member"
        return await self._end(outcome)

    async def _end(self, outcome: ToolOutcome) -> ToolSettled:
        """Journal one call's result and what it shows."""
        await to_its_end(answers.commit, self.admitted, Pending(), result_drafts(outcome))
        return ToolSettled(outcome.call.call_id, outcome.outcome, str(outcome.ends_turn or ""))


def grouped(calls: Sequence[ToolCall], is_read: Any) -> list[list[ToolCall]]:
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


def _failure(completed: Completed) -> str:
    """The reason code of a failed request. The gateway has asked again before it gives up on empty
    responses, so that for the turn they are exhausted.
    """
    if completed.failure is None:
        return ""
    if completed.failure.code == Reason.PROVIDER_EMPTY_RESPONSE:
        return str(Reason.PROVIDER_EMPTY_RESPONSE_EXHAUSTED)
    return str(completed.failure.code)

"""One model request of a turn: what is sent, what is shown while it is answered, what came out.

Nothing here decides whether an answer is kept, and nothing is journaled.
"""

import hashlib
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from agents.engine import correction
from agents.engine.correction import Rule
from agents.engine.effects import CallModel, Nudge
from agents.gateway import metering
from agents.gateway.calls import ModelCallEnded
from agents.gateway.connection import Connection
from agents.gateway.events import (
    AttemptFailed,
    Completed,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolOffer,
)
from agents.gateway.stream import stream
from agents.guardrails.chain import Guard
from agents.guardrails.facts import Tripped
from agents.prompts import chain, trim
from agents.turns.admission import Admitted
from agents.turns.answers import Pending, Spent
from agents.turns.building import Building
from agents.turns.inactivity import Silence
from agents.turns.live import LiveTurn
from agents.turns.offers import StepOffer
from agents.turns.reasoning import Reasoning
from agents.turns.transcript import Message
from audit import metrics
from audit.canonical import storable
from audit.reasons import Reason
from tools.boundary import exposure

CONTINUE: Final = (
    "(From the server, not from the person.) Your last answer reached the output limit before it"
    " said anything. Answer now, briefly."
)
REQUIRED: Final = (
    "(From the server, not from the person.) The person asked for a call of the tool {tool}. Call"
    " it before anything else."
)
BY_RULE: Final = "(From the server, not from the person.) {text}"


@dataclass(frozen=True)
class Sample:
    """One answer. `withheld` is text that has not been shown, as the answer may be dropped."""

    completed: Completed
    withheld: str
    rules: tuple[Rule, ...]

    @property
    def is_blank(self) -> bool:
        """Whether the model replied without error and with nothing."""
        failure = self.completed.failure
        if failure is not None:
            return failure.code is Reason.PROVIDER_EMPTY_RESPONSE
        return not self.completed.calls and not self.completed.text.strip()


class Asking:
    """Asks the model for one turn; used by one task at a time. `step` is the one being asked for,
    0 in between.
    """

    def __init__(
        self,
        admitted: Admitted,
        live: LiveTurn,
        guard: Guard,
        silence: Silence,
        pending: Pending,
        spent: Spent,
        showing: tuple[Reasoning, Building],
    ) -> None:
        self.step = 0
        self._reasoning, self._building = showing
        self._admitted = admitted
        self._live = live
        self._guard = guard
        self._silence = silence
        self._pending = pending
        self._spent = spent
        self._has_spoken = False
        self._showing = _Showing(live, (), owed=False)
        self._prompt = ""

    async def ask(
        self, effect: CallModel, messages: Sequence[Message], offer: StepOffer, *, owed: str
    ) -> Sample:
        """Ask for a step. `owed` names the tool without whose call the answer is held back.

        Thinking is always shown at once, and stays. Raises `Tripped`.
        """
        nudges = [{"role": "user", "content": _nudge(effect, owed)}] if effect.nudge else []
        shown = trim.fitted(messages, self._admitted.history_characters)
        request = ModelRequest(
            messages=self._guard.before_model([self._system(), *shown, *nudges]),
            tools=[ToolOffer(**told) for told in exposure.advertise(offer.tools.values())],
        )
        await self._afforded(request)
        self.step = effect.step
        self._building.begin(effect.step, offer)
        rules = correction.rules(offers_tools=bool(offer.tools))
        showing = self._showing = _Showing(self._live, rules, owed=bool(owed))
        completed = await self._stream(request, showing)
        self.cut_short()
        self.step = 0
        self._spent.add(completed.usage)
        self._pending.model_calls.append(ModelCallEnded(effect.step, completed))
        sample = Sample(completed, showing.withheld, rules)
        self._guard.answered(blank=sample.is_blank)
        return sample

    def cut_short(self) -> None:
        """The answer is over, or given up: what the guardrails still held of it goes out."""
        self._showing.add(self._guard.ended("text"))
        self._live.add("thinking", self._guard.ended("thinking"))

    async def _afforded(self, request: ModelRequest) -> None:
        """Raise `Tripped` when a budget has no room for the request."""
        spent = self._spent.prompt_tokens + self._spent.completion_tokens
        refused = await metering.before_call(
            self._connection, self._admitted.call_subject, request, spent_tokens=spent
        )
        if refused is not None:
            raise Tripped(refused)

    @property
    def _connection(self) -> Connection:
        connection = self._admitted.connection
        assert isinstance(connection, Connection), "a refused turn asks no model"
        return connection

    async def _stream(self, request: ModelRequest, showing: "_Showing") -> Completed:
        guard, seen = self._guard, self._silence.seen
        completed: Completed | None = None
        async with aclosing(stream(self._connection, request, self._admitted.lifecycle)) as events:
            async for event in events:
                seen()
                if type(event) is TextDelta:
                    if not self._has_spoken:
                        self._note_first_token()
                    showing.add(guard.live("text", storable(event.text)))
                elif type(event) is ThinkingDelta:
                    thought = guard.live("thinking", storable(event.text))
                    self._reasoning.add(self.step, thought)
                elif type(event) is ToolCallDelta:
                    self._building.observe(event)
                elif type(event) is AttemptFailed:
                    self._building.restart()
                    self._silence.excused(event.wait_s)
                    self._spent.add(event.usage)
                    self._pending.model_calls.append(ModelCallEnded(self.step, event))
                elif type(event) is Completed:
                    completed = event
        assert completed is not None, "the gateway ends every request with one outcome"
        return completed

    def _note_first_token(self) -> None:
        self._has_spoken = True
        waited = datetime.now(UTC) - self._admitted.accepted_at
        metrics.first_token(waited.total_seconds())

    def _system(self) -> Message:
        """The prompt, composed once for the run, so that its steps share one beginning."""
        if not self._prompt:
            settings = self._admitted.settings
            assert settings is not None, "a refused turn asks no model"
            subject = chain.Subject(
                persona=self._admitted.persona,
                display_name=self._admitted.member_name,
                time_zone=self._admitted.time_zone,
                settings=settings,
            )
            self._prompt = chain.compose(subject, datetime.now(UTC))
        return {"role": "system", "content": self._prompt}


class _Showing:
    """The text of one answer on its way to people, held back while it may still be dropped."""

    def __init__(self, live: LiveTurn, rules: tuple[Rule, ...], *, owed: bool) -> None:
        self._live = live
        self._rules = rules
        self._owed = owed
        self._held: list[str] | None = [] if owed or rules else None

    @property
    def withheld(self) -> str:
        """What was not shown."""
        return "".join(self._held or ())

    def add(self, text: str) -> None:
        """Show more text, or hold it back."""
        if self._held is None:
            self._live.add("text", text)
            return
        self._held.append(text)
        if not self._owed and not correction.undecided(self._rules, self.withheld):
            self._live.add("text", self.withheld)
            self._held = None


def payload_of(messages: Sequence[dict[str, Any]]) -> str:
    """Tells requests apart whose answer is blank."""
    return hashlib.sha256(orjson.dumps(list(messages))).hexdigest()


def _nudge(effect: CallModel, owed: str) -> str:
    match effect.nudge:
        case Nudge.CONTINUE:
            return CONTINUE
        case Nudge.REQUIRED:
            return REQUIRED.format(tool=owed)
        case _:
            return BY_RULE.format(text=correction.TEXTS[effect.rule])

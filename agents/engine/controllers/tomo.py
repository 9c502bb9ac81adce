"""Tomo: the pure reducer drives, one bounded effect at a time.

For direct answers, grounded retrieval and short predictable tool chains. Waiting input is taken
at every boundary between two model steps, and once more before an ordinary end.
"""

from collections.abc import Sequence
from typing import Any

from agents.engine.controllers.host import Host
from agents.engine.effects import CallModel, Checkpoint, Compact, Effect, Intent, Settle, Wait
from agents.engine.events import Event, LimitReached, StopRequested
from agents.engine.reducer import reduce
from agents.engine.state import Phase, State


class Tomo:
    """Applies the reducer to what the host reports until an intent comes out."""

    id = "tomo"
    version = 1

    def __init__(self) -> None:
        self._state = State()
        self._intent: Intent | None = None
        self._steers = 0

    async def run(self, host: Host, events: Sequence[Event]) -> Intent:
        """Continue after `events`; the host's answers are the only further ones."""
        self._intent = None
        effect: Effect | Intent | None = None
        for event in events:
            self._state, effect = reduce(self._state, event)
        if effect is None:
            raise ValueError("a turn goes on with at least one event")
        while not isinstance(effect, Settle | Wait):
            event = await _carry_out(host, effect)
            self._state, effect = reduce(self._state, event)
        self._intent = effect
        return effect

    def abort(self) -> Settle:
        """Cancelled, unless the turn had already decided its end."""
        return self._end(StopRequested())

    def steer(self) -> None:
        """Counted for diagnosis: every boundary asks the host anyway."""
        self._steers += 1

    def interrupt_for_steering(self) -> bool:
        """Never: what the model is saying is heard to its end."""
        return False

    def inactivity_timed_out(self, reason: str) -> Settle:
        """Failed, unless the turn had already decided its end."""
        return self._end(LimitReached(reason))

    def inspect(self) -> dict[str, Any]:
        """Phase and counters, for diagnosis."""
        return {
            "phase": str(self._state.phase),
            "step": self._state.step,
            "rounds": self._state.rounds,
            "steers": self._steers,
            "settled": self._state.phase in (Phase.ANSWERED, Phase.FINISHED),
        }

    def _end(self, event: StopRequested | LimitReached) -> Settle:
        if not isinstance(self._intent, Settle):
            self._state, effect = reduce(self._state, event)
            assert isinstance(effect, Settle)  # the table allows nothing else
            self._intent = effect
        return self._intent


async def _carry_out(host: Host, effect: Effect) -> Event:
    match effect:
        case Checkpoint():
            return await host.checkpoint(effect)
        case Compact():
            return await host.compact(effect)
        case CallModel():
            return await host.call_model(effect)
        case _:
            return await host.run_tools(effect)

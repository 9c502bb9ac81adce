"""Tomo: the pure reducer drives, one bounded effect at a time.

For direct answers, grounded retrieval and short predictable tool chains.
"""

from collections.abc import Sequence
from typing import Any

from agents.engine.controllers.host import Host
from agents.engine.effects import CallModel, Effect, Settle
from agents.engine.events import Event, StopRequested
from agents.engine.reducer import reduce, replay
from agents.engine.state import Phase, State


class Tomo:
    """Applies the reducer to what the host reports until a terminal intent comes out."""

    id = "tomo"
    version = 1

    def __init__(self) -> None:
        self._state = State()
        self._settled: Settle | None = None

    async def run(self, host: Host, past: Sequence[Event]) -> Settle:
        """Continue after `past`; the host's answers are the only further events."""
        self._state, effect = replay(past)
        if effect is None:
            raise ValueError("a turn begins with at least one event")
        while not isinstance(effect, Settle):
            event = await self._carry_out(host, effect)
            self._state, effect = reduce(self._state, event)
        self._settled = effect
        return effect

    def abort(self) -> Settle:
        """Cancelled, unless the turn had already decided its end."""
        if self._settled is None:
            self._state, effect = reduce(self._state, StopRequested())
            assert isinstance(effect, Settle)  # the table allows nothing else
            self._settled = effect
        return self._settled

    def inspect(self) -> dict[str, Any]:
        """Phase and counters, for diagnosis."""
        return {
            "phase": str(self._state.phase),
            "step": self._state.step,
            "rounds": self._state.rounds,
            "settled": self._state.phase is Phase.FINISHED,
        }

    async def _carry_out(self, host: Host, effect: Effect) -> Event:
        if isinstance(effect, CallModel):
            return await host.call_model(effect)
        assert not isinstance(effect, Settle)  # the loop ends on it
        return await host.run_tools(effect)

"""What a controller may ask its host for, and what every controller must offer."""

from collections.abc import Sequence
from typing import Any, Protocol

from agents.engine.effects import CallModel, RejectTools, RunTools, Settle
from agents.engine.events import BatchSettled, Event, ModelAnswered

HOST_PROTOCOL = 1


class Host(Protocol):
    """The shared host. It alone holds model access, tools, journal, budgets and credentials."""

    async def call_model(self, effect: CallModel) -> ModelAnswered:
        """Run one model request to its end. Provider faults are answers, not exceptions."""
        ...

    async def run_tools(self, effect: RunTools | RejectTools) -> BatchSettled:
        """Commit the step's calls, then settle each exactly once."""
        ...


class Controller(Protocol):
    """One turn's orchestration. Made anew for every turn; owns no client and no storage."""

    id: str
    version: int

    async def run(self, host: Host, past: Sequence[Event]) -> Settle:
        """Work from what already happened (`past`, never empty) to the one terminal intent."""
        ...

    def abort(self) -> Settle:
        """The terminal intent of a turn that was stopped from outside; repeating it is safe."""
        ...

    def inspect(self) -> dict[str, Any]:
        """A bounded diagnostic projection of the controller's own state."""
        ...

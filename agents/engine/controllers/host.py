"""What a controller may ask its host for, and what every controller must offer."""

from collections.abc import Sequence
from typing import Any, Protocol

from agents.engine.effects import (
    CallModel,
    Checkpoint,
    Compact,
    Intent,
    RejectTools,
    RunTools,
    Settle,
)
from agents.engine.events import (
    BatchParked,
    BatchSettled,
    Checkpointed,
    Compacted,
    Event,
    ModelAnswered,
)

HOST_PROTOCOL = 1


class Host(Protocol):
    """The shared host. It alone holds model access, tools, journal, budgets and credentials."""

    async def checkpoint(self, effect: Checkpoint) -> Checkpointed:
        """Commit what was produced and take waiting input into history."""
        ...

    async def compact(self, effect: Compact) -> Compacted:
        """Replace older history by a summary."""
        ...

    async def call_model(self, effect: CallModel) -> ModelAnswered:
        """Run one model request to its end. Provider faults are answers, not exceptions."""
        ...

    async def run_tools(self, effect: RunTools | RejectTools) -> BatchSettled | BatchParked:
        """Commit the step's calls, then settle each exactly once, or park what needs a person."""
        ...


class Controller(Protocol):
    """One turn's orchestration. Made anew for every turn; owns no client and no storage."""

    id: str
    version: int

    async def run(self, host: Host, events: Sequence[Event]) -> Intent:
        """Work from what happened (never nothing) to the next intent.

        Called first with all that is committed of the turn. Called again after an ordinary end
        that input came in before: with the `Checkpointed` that took it.
        """
        ...

    def abort(self) -> Settle:
        """The terminal intent of a turn that was stopped from outside; repeating it is safe."""
        ...

    def steer(self) -> None:
        """Input is waiting for the turn. It is taken at the controller's next checkpoint."""
        ...

    def interrupt_for_steering(self) -> bool:
        """Whether the model request under way should be cut short for the waiting input."""
        ...

    def inactivity_timed_out(self, reason: str) -> Settle:
        """The terminal intent of a turn whose time ran out; `reason` is a reason code."""
        ...

    def inspect(self) -> dict[str, Any]:
        """A bounded diagnostic projection of the controller's own state."""
        ...

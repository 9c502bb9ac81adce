"""A turn's state and the table of legal transitions.

Everything that may change while a turn runs lives in `State`; an event that the table does not
list for the current phase is an error of the host, never silently ignored.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from agents.engine.events import (
    BatchParked,
    BatchSettled,
    Began,
    Checkpointed,
    Compacted,
    Event,
    LimitReached,
    ModelAnswered,
    StopRequested,
)
from agents.engine.sampling import Sampling


class Phase(StrEnum):
    """idle -> boundary -> (compacting ->) sampling <-> dispatching; answered -> boundary.

    `answered` is an ordinary end that input which came in meanwhile may still undo; `finished` is
    not. `waiting` is left by replaying the journal: the batch is owed again.
    """

    IDLE = "idle"
    BOUNDARY = "boundary"
    COMPACTING = "compacting"
    SAMPLING = "sampling"
    DISPATCHING = "dispatching"
    WAITING = "waiting"
    ANSWERED = "answered"
    FINISHED = "finished"


OPEN: Final = (
    Phase.IDLE,
    Phase.BOUNDARY,
    Phase.COMPACTING,
    Phase.SAMPLING,
    Phase.DISPATCHING,
    Phase.WAITING,
    Phase.ANSWERED,
)
TRANSITIONS: Final[dict[tuple[Phase, type[Event]], frozenset[Phase]]] = {
    (Phase.IDLE, Began): frozenset({Phase.BOUNDARY}),
    (Phase.BOUNDARY, Checkpointed): frozenset({Phase.COMPACTING, Phase.SAMPLING, Phase.FINISHED}),
    (Phase.COMPACTING, Compacted): frozenset({Phase.SAMPLING}),
    (Phase.SAMPLING, ModelAnswered): frozenset(
        {Phase.SAMPLING, Phase.DISPATCHING, Phase.ANSWERED, Phase.FINISHED}
    ),
    (Phase.DISPATCHING, BatchSettled): frozenset({Phase.BOUNDARY, Phase.FINISHED}),
    (Phase.DISPATCHING, BatchParked): frozenset({Phase.WAITING}),
    (Phase.ANSWERED, Checkpointed): frozenset({Phase.COMPACTING, Phase.SAMPLING, Phase.FINISHED}),
    **{(phase, LimitReached): frozenset({Phase.FINISHED}) for phase in OPEN},
    **{(phase, StopRequested): frozenset({Phase.FINISHED}) for phase in OPEN},
}


class IllegalEvent(Exception):
    """The event cannot happen in this phase, or names a step that is not open."""


@dataclass(frozen=True)
class State:
    """Where a turn stands.

    `step` counts committed model steps, `rounds` batches of calls, `truncations` follow-ups
    after a length stop; `sampling` what has been dropped of the step at hand.
    """

    phase: Phase = Phase.IDLE
    step: int = 0
    rounds: int = 0
    truncations: int = 0
    open_calls: tuple[str, ...] = ()
    sampling: Sampling = field(default_factory=Sampling)

"""A turn's state and the table of legal transitions.

Everything that may change while a turn runs lives in `State`; an event that the table does not
list for the current phase is an error of the host, never silently ignored.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from agents.engine.events import (
    BatchSettled,
    Began,
    Event,
    LimitReached,
    ModelAnswered,
    StopRequested,
)


class Phase(StrEnum):
    """idle -> sampling <-> dispatching -> finished."""

    IDLE = "idle"
    SAMPLING = "sampling"
    DISPATCHING = "dispatching"
    FINISHED = "finished"


TRANSITIONS: Final[dict[tuple[Phase, type[Event]], frozenset[Phase]]] = {
    (Phase.IDLE, Began): frozenset({Phase.SAMPLING}),
    (Phase.IDLE, LimitReached): frozenset({Phase.FINISHED}),
    (Phase.IDLE, StopRequested): frozenset({Phase.FINISHED}),
    (Phase.SAMPLING, ModelAnswered): frozenset({Phase.SAMPLING, Phase.DISPATCHING, Phase.FINISHED}),
    (Phase.SAMPLING, LimitReached): frozenset({Phase.FINISHED}),
    (Phase.SAMPLING, StopRequested): frozenset({Phase.FINISHED}),
    (Phase.DISPATCHING, BatchSettled): frozenset({Phase.SAMPLING, Phase.FINISHED}),
    (Phase.DISPATCHING, LimitReached): frozenset({Phase.FINISHED}),
    (Phase.DISPATCHING, StopRequested): frozenset({Phase.FINISHED}),
}


class IllegalEvent(Exception):
    """The event cannot happen in this phase, or names a step that is not open."""


@dataclass(frozen=True)
class State:
    """Where a turn stands.

    `step` counts committed model steps, `rounds` batches of calls, `truncations` follow-ups
    after a length stop; the two `empty_` counters count blank responses, for the payload at
    hand and in a row.
    """

    phase: Phase = Phase.IDLE
    step: int = 0
    rounds: int = 0
    truncations: int = 0
    empty_for_payload: int = 0
    empty_in_a_row: int = 0
    open_calls: tuple[str, ...] = ()

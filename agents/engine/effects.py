"""What the engine asks its host to do: the closed set of effects."""

from dataclasses import dataclass
from enum import StrEnum

from agents.engine.events import CallRequested


class Terminal(StrEnum):
    """The four ways a turn can end."""

    COMPLETED = "completed"
    SALVAGED = "salvaged"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class CallModel:
    """Ask the model, with everything settled so far in its context."""

    step: int


@dataclass(frozen=True)
class RunTools:
    """Commit the step's calls and run them; answer with one result for each."""

    step: int
    calls: tuple[CallRequested, ...]


@dataclass(frozen=True)
class RejectTools:
    """Commit the step's calls without running any: the output limit cut the response."""

    step: int
    calls: tuple[CallRequested, ...]


@dataclass(frozen=True)
class Settle:
    """End the turn. `reason` is a reason code, empty for an ordinary answer."""

    terminal: Terminal
    reason: str = ""


Effect = CallModel | RunTools | RejectTools | Settle

"""What happened in a turn: the closed set of inputs to the reducer."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class End(StrEnum):
    """How one model response ended."""

    COMPLETE = "complete"
    TOOL_CALLS = "tool_calls"
    TRUNCATED = "truncated"
    FAILED = "failed"


@dataclass(frozen=True)
class CallRequested:
    """A tool call in a committed model response; `readable` is False for unusable arguments."""

    call_id: str
    name: str
    readable: bool = True


@dataclass(frozen=True)
class Began:
    """The turn was admitted; its input is in history."""


@dataclass(frozen=True)
class ModelAnswered:
    """One model request ended. `failure` is a reason code when `end` is `failed`."""

    step: int
    has_text: bool
    calls: tuple[CallRequested, ...]
    end: End
    failure: str = ""


@dataclass(frozen=True)
class ToolSettled:
    """One call of the batch ended; `ends_turn` is a reason code when the turn must close."""

    call_id: str
    outcome: Literal[
        "success",
        "error",
        "pending_confirmation",
        "repeat_suppressed",
        "denied",
        "cancelled",
        "timeout",
    ]
    ends_turn: str = ""


@dataclass(frozen=True)
class BatchSettled:
    """Every call of a step's batch has exactly one result, in the model's order."""

    step: int
    results: tuple[ToolSettled, ...]


@dataclass(frozen=True)
class LimitReached:
    """The host's clock ran out; `reason` is a reason code."""

    reason: str


@dataclass(frozen=True)
class StopRequested:
    """The member pressed Stop."""


Event = Began | ModelAnswered | BatchSettled | LimitReached | StopRequested

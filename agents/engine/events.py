"""What happened in a turn: the closed set of inputs to the reducer.

An event carries facts and digests, never text: what people and models wrote stays with the host.
"""

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
    """A tool call in a committed model response; `readable` is False for unusable arguments.

    `digest` stands for the whole arguments, `fields` for each top-level argument by name. `writes`
    says that the call may change something.
    """

    call_id: str
    name: str
    readable: bool = True
    digest: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    writes: bool = False


@dataclass(frozen=True)
class Repair:
    """What a failure allows next, as the tool knows it."""

    retryable: bool
    same_tool_required: bool = False
    locked_arguments: tuple[str, ...] = ()
    substitutable: bool = True


@dataclass(frozen=True)
class Began:
    """The turn was admitted; its input is in history."""


@dataclass(frozen=True)
class Checkpointed:
    """What was produced is committed and waiting input has been taken into history.

    `taken` counts the messages taken; `crowded` says that the context has reached its limit.
    """

    taken: int = 0
    crowded: bool = False


@dataclass(frozen=True)
class Compacted:
    """Older history has been replaced by a summary, or could not be."""

    done: bool = True


@dataclass(frozen=True)
class ModelAnswered:
    """One model request ended. `failure` is a reason code when `end` is `failed`.

    `payload` tells requests apart whose answer is blank. `rule` names the correction rule the
    answer ran into.
    """

    step: int
    has_text: bool
    calls: tuple[CallRequested, ...]
    end: End
    failure: str = ""
    payload: str = ""
    rule: str = ""


@dataclass(frozen=True)
class ToolSettled:
    """One call of the batch ended, with the facts that policies look at.

    `ends_turn` is a reason code when the turn must close, `denial` one when the call was not
    allowed to run. `discovery` marks a search for tools.
    """

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
    tool: str = ""
    arguments_digest: str = ""
    denial: str = ""
    error_class: str = ""
    failure_domain: str = "tool"
    repair: Repair | None = None
    discovery: bool = False


@dataclass(frozen=True)
class BatchSettled:
    """Every call of a step's batch has exactly one result, in the model's order.

    `closes` is a reason code when the rules of conduct end the turn here.
    """

    step: int
    results: tuple[ToolSettled, ...]
    closes: str = ""


@dataclass(frozen=True)
class BatchParked:
    """Some calls of a step's batch wait for a person; the others have their results."""

    step: int
    waiting: tuple[str, ...]


@dataclass(frozen=True)
class LimitReached:
    """The host's clock ran out; `reason` is a reason code."""

    reason: str


@dataclass(frozen=True)
class StopRequested:
    """The member pressed Stop."""


Event = (
    Began
    | Checkpointed
    | Compacted
    | ModelAnswered
    | BatchSettled
    | BatchParked
    | LimitReached
    | StopRequested
)

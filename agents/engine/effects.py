"""What the engine asks its host to do: the closed set of effects and of intents."""

from dataclasses import dataclass
from enum import StrEnum

from agents.engine.events import CallRequested


class Terminal(StrEnum):
    """The four ways a turn can end."""

    COMPLETED = "completed"
    SALVAGED = "salvaged"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Nudge(StrEnum):
    """Why a model is asked again with a sentence of the server's that history does not keep."""

    CONTINUE = "continue"  # the output limit struck before anything was said
    REQUIRED = "required"  # a tool the member asked for has not been called
    RULE = "rule"  # the answer ran into a correction rule


@dataclass(frozen=True)
class Checkpoint:
    """Commit what was produced and take waiting input into history, before step `step`."""

    step: int


@dataclass(frozen=True)
class Compact:
    """Replace older history by a summary, before step `step`."""

    step: int


@dataclass(frozen=True)
class CallModel:
    """Ask the model, with everything settled so far in its context.

    With a `nudge` the sample before is dropped: nothing of it is committed, and the server's
    sentence goes along. `rule` names the correction rule of a `RULE` nudge.
    """

    step: int
    nudge: Nudge | None = None
    rule: str = ""


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


@dataclass(frozen=True)
class Wait:
    """Let the turn rest, its lease given up, until what it waits for is there."""

    reason: str


Effect = Checkpoint | Compact | CallModel | RunTools | RejectTools
Intent = Settle | Wait

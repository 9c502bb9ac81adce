"""How calls fail: classes of failure, denials and what is said about each. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from audit.reasons import ErrorClass, Reason
from audit.refusals import Refusal
from tools.boundary.contract import Json, RepairDirective, ToolResult

MAX_EXCEPTION_TEXT: Final = 500  # characters of an exception that a model may read

# Denials that may be told to the model, so that it can do something else.
READABLE_DENIALS: Final = frozenset(
    {Reason.INVALID_ARGUMENTS, Reason.TOOL_NOT_OFFERED, Reason.POLICY_REFUSED}
)
# Denials that close the turn at once.
FINAL_DENIALS: Final = frozenset(
    {
        Reason.MEMBER_DENIED,
        Reason.APPROVAL_EXPIRED,
        Reason.APPROVAL_MISMATCH,
        Reason.RUN_EXPIRED,
        Reason.DECISION_UNREACHABLE,
        Reason.CALL_ID_REUSED,
        Reason.QUEUE_REFUSED,
        Reason.BATCH_STOPPED,
        Reason.REQUIRED_TOOL_BLOCKED,
        Reason.REPAIR_EXHAUSTED,
    }
)
# What people read about each, in a tool card.
DENIALS: Final[Mapping[Reason, str]] = MappingProxyType(
    {
        Reason.INVALID_ARGUMENTS: "The agent called this tool in a way it does not accept.",
        Reason.TOOL_NOT_OFFERED: "The agent asked for a tool it does not have.",
        Reason.POLICY_REFUSED: "This tool is not allowed here.",
        Reason.MEMBER_DENIED: "You did not allow this.",
        Reason.APPROVAL_EXPIRED: "The question was not answered in time.",
        Reason.APPROVAL_MISMATCH: "What was approved is no longer what would be done.",
        Reason.RUN_EXPIRED: "The turn had ended.",
        Reason.DECISION_UNREACHABLE: "It could not be checked whether this is allowed.",
        Reason.CALL_ID_REUSED: "The same call was made twice.",
        Reason.QUEUE_REFUSED: "The call could not be queued.",
        Reason.BATCH_STOPPED: "The turn was stopped before this call.",
        Reason.REQUIRED_TOOL_BLOCKED: "Another tool has to be called first.",
        Reason.REPAIR_EXHAUSTED: "After the last failure nothing else could be tried.",
    }
)
# Classes of refusals that are more than "the tool failed".
CLASSES: Final[Mapping[Reason, ErrorClass]] = MappingProxyType(
    {
        Reason.NOT_FOUND: ErrorClass.NOT_FOUND,
        Reason.FORBIDDEN: ErrorClass.FORBIDDEN,
        Reason.INVALID_BODY: ErrorClass.INVALID_ARGUMENT,
        Reason.STALE_VERSION: ErrorClass.INVALID_ARGUMENT,
        Reason.CONTENT_MISMATCH: ErrorClass.INVALID_ARGUMENT,
        Reason.RATE_LIMITED: ErrorClass.RATE_LIMITED,
        Reason.BUDGET_EXHAUSTED: ErrorClass.RATE_LIMITED,
        Reason.TIMEOUT: ErrorClass.TIMEOUT,
        Reason.INVALID_ARGUMENT: ErrorClass.INVALID_ARGUMENT,
        Reason.INVALID_ARGUMENTS: ErrorClass.INVALID_ARGUMENT,
        Reason.BODY_TOO_LARGE: ErrorClass.INVALID_ARGUMENT,
        Reason.TOOL_NOT_OFFERED: ErrorClass.NOT_FOUND,
        Reason.POLICY_REFUSED: ErrorClass.FORBIDDEN,
        Reason.MEMBER_DENIED: ErrorClass.FORBIDDEN,
        Reason.APPROVAL_EXPIRED: ErrorClass.FORBIDDEN,
        Reason.APPROVAL_MISMATCH: ErrorClass.FORBIDDEN,
        Reason.REQUIRED_TOOL_BLOCKED: ErrorClass.FORBIDDEN,
        Reason.PROVIDER_ERROR: ErrorClass.PROVIDER_ERROR,
        Reason.PROVIDER_UNREACHABLE: ErrorClass.PROVIDER_ERROR,
        Reason.PROVIDER_REFUSED: ErrorClass.PROVIDER_ERROR,
        Reason.PROVIDER_CREDENTIALS: ErrorClass.PROVIDER_ERROR,
        Reason.PROVIDER_CUT_OFF: ErrorClass.PROVIDER_ERROR,
        Reason.PROVIDER_GARBAGE: ErrorClass.PROVIDER_ERROR,
        Reason.MODEL_UNAVAILABLE: ErrorClass.PROVIDER_ERROR,
    }
)
# What a class of failure allows next, where the tool does not know better. After one that is not
# here nothing is known.
DIRECTIVES: Final[Mapping[ErrorClass, RepairDirective]] = MappingProxyType(
    {
        ErrorClass.INVALID_ARGUMENT: RepairDirective(retryable=True, same_tool_required=True),
        ErrorClass.NOT_FOUND: RepairDirective(retryable=False),
        ErrorClass.FORBIDDEN: RepairDirective(retryable=False),
        ErrorClass.RATE_LIMITED: RepairDirective(retryable=True),
        ErrorClass.TIMEOUT: RepairDirective(retryable=True),
        ErrorClass.PROVIDER_ERROR: RepairDirective(retryable=True),
    }
)


@dataclass(frozen=True)
class Denial:
    """Why a call must not run. `detail` and `problems` help the model to do better.

    `told` is what people read where it says more than the reason's own words; `why` lists what was
    asked about the call and who decided it.
    """

    reason: Reason
    detail: str
    problems: tuple[Mapping[str, str], ...] = ()
    expected_schema: Json | None = None
    told: str = ""
    why: tuple[Json, ...] = ()

    @property
    def words(self) -> str:
        """What people read about it."""
        return self.told or DENIALS[self.reason]

    @property
    def ends_turn(self) -> Reason | None:
        """The reason again where it is final."""
        return self.reason if self.reason in FINAL_DENIALS else None

    @property
    def error_class(self) -> ErrorClass:
        """The class of failure it is, by the table every failure goes through."""
        return class_of(self.reason)


class Overrun(TimeoutError):
    """A call took longer than it may and was cancelled."""


class NotCommitted(Exception):
    """Raised by a writing tool that knows that nothing of its change was made, also when it is
    cancelled: the call then fails like one that only reads.
    """


def error(
    error_class: ErrorClass,
    message: str,
    *,
    repair: RepairDirective | None = None,
    failure_domain: Literal["tool", "caller"] = "tool",
    **facts: Any,
) -> ToolResult:
    """An error result for a failure that was foreseen; `message` tells the model what to do."""
    return ToolResult(
        outcome="error",
        payload={"message": message, **facts},
        error_class=error_class,
        failure_domain=failure_domain,
        repair=repair,
    )


def refused(refusal: Refusal, *, repair: RepairDirective | None = None, **facts: Any) -> ToolResult:
    """An error result that says why an operation of ours refused, with its wrong fields.

    What may follow comes from its class of failure unless the tool knows better.
    """
    if refusal.fields:
        facts["problems"] = [dict(problem) for problem in refusal.fields]
    error_class = classify(refusal)
    directive = repair or DIRECTIVES.get(error_class)
    return error(error_class, refusal.message, repair=directive, **facts)


def class_of(reason: Reason) -> ErrorClass:
    """The class of failure of a reason code; `tool_error` where nothing narrower is known."""
    return CLASSES.get(reason, ErrorClass.TOOL_ERROR)


def classify(fault: BaseException) -> ErrorClass:
    """The one place that turns an exception into a class of failure."""
    if isinstance(fault, Refusal):
        return class_of(fault.reason)
    if isinstance(fault, TimeoutError):
        return ErrorClass.TIMEOUT
    if isinstance(fault, PermissionError):
        return ErrorClass.FORBIDDEN
    if isinstance(fault, FileNotFoundError):
        return ErrorClass.NOT_FOUND
    return ErrorClass.TOOL_ERROR


def text_of(fault: BaseException) -> str:
    """The first line of an exception's text, bounded, never its traceback."""
    lines = str(fault).strip().splitlines()
    return lines[0][:MAX_EXCEPTION_TEXT] if lines else "The tool failed without saying why."

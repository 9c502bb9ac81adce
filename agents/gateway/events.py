"""What goes to a model and the closed set of what comes back, the same for every provider."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from audit.reasons import ErrorClass, Reason

End = Literal["complete", "tool_calls", "truncated", "failed"]

# Every way a provider can fail, with the class its call record carries.
FAILURES: dict[Reason, ErrorClass] = {
    Reason.PROVIDER_UNREACHABLE: ErrorClass.PROVIDER_ERROR,
    Reason.PROVIDER_REFUSED: ErrorClass.PROVIDER_ERROR,
    Reason.PROVIDER_CREDENTIALS: ErrorClass.FORBIDDEN,
    Reason.PROVIDER_CUT_OFF: ErrorClass.PROVIDER_ERROR,
    Reason.PROVIDER_GARBAGE: ErrorClass.PROVIDER_ERROR,
    Reason.PROVIDER_EMPTY_RESPONSE: ErrorClass.PROVIDER_ERROR,
    Reason.PROVIDER_GRAMMAR: ErrorClass.INVALID_ARGUMENT,
    Reason.CONTEXT_TOO_LONG: ErrorClass.INVALID_ARGUMENT,
    Reason.CONTENT_FILTERED: ErrorClass.PROVIDER_ERROR,
    Reason.RATE_LIMITED: ErrorClass.RATE_LIMITED,
    Reason.TIMEOUT: ErrorClass.TIMEOUT,
    # Our own request cannot even be written down.
    Reason.INVALID_ARGUMENT: ErrorClass.INVALID_ARGUMENT,
}


class CallRefusal(StrEnum):
    """Why a tool call the model asked for must not run. The value is stable; see `EXPLANATIONS`."""

    TRUNCATED = "truncated"
    NOT_JSON = "not_json"
    NOT_AN_OBJECT = "not_an_object"
    SEVERAL_OBJECTS = "several_objects"
    TOO_LARGE = "too_large"
    NO_NAME = "no_name"


EXPLANATIONS: dict[CallRefusal, str] = {
    CallRefusal.TRUNCATED: (
        "The output limit cut this message, so none of its calls was run. "
        "Send the call again, with less text."
    ),
    CallRefusal.NOT_JSON: (
        "The arguments are not valid JSON, so the call was not run. "
        "Send it again with one JSON object."
    ),
    CallRefusal.NOT_AN_OBJECT: (
        "The arguments must be one JSON object, so the call was not run. Send it again."
    ),
    CallRefusal.SEVERAL_OBJECTS: (
        "The arguments hold more than one JSON object, so the call was not run. "
        "Send a separate call for each."
    ),
    CallRefusal.TOO_LARGE: "The arguments are too large, so the call was not run.",
    CallRefusal.NO_NAME: "The call names no tool, so it was not run.",
}


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool the model may ask for; `parameters` is its JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One model step. `messages` have the OpenAI chat shape; `max_output_tokens` None leaves the
    deployment's own limit in force.
    """

    messages: list[dict[str, Any]]
    tools: list[ToolOffer] = field(default_factory=list)
    effort: str | None = None
    max_output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """The provider's last report for one call, in tokens; None where it does not say."""

    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ProviderFailure:
    """A provider fault without a word of the provider's own text.

    `code` is a key of `FAILURES`; `message` is a sentence a member may read; `status` the HTTP
    status where there was one; `retryable` says that the same request may succeed later;
    `retry_after_s` is what the provider asked to wait, in seconds.
    """

    code: Reason
    message: str
    status: int | None = None
    retryable: bool = False
    retry_after_s: float | None = None

    @property
    def error_class(self) -> ErrorClass:
        return FAILURES[self.code]


@dataclass(frozen=True, slots=True)
class ModelToolCall:
    """A tool call as the model asked for it.

    `arguments` is None exactly when `refusal` says why the call must not run. `raw` is the text
    as it came, `provider_id` the provider's own id, which may be empty or repeat.
    """

    provider_id: str
    name: str
    arguments: dict[str, Any] | None
    raw: str
    refusal: CallRefusal | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A tool call grows. Nothing may be done with it before `Completed`.

    `index` counts calls in the order in which they were begun. `text` is what came of the argument
    text since the last delta of the call; halves of characters may meet only in the next one.
    """

    index: int
    name: str
    arguments_so_far_len: int
    text: str


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """One attempt ended before anything was said and will be repeated after `wait_s` seconds.

    It is a call of its own for the ledger. Thinking shown so far stays shown.
    """

    number: int
    failure: ProviderFailure
    usage: Usage | None
    wait_s: float
    first_token_ms: int | None = None
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class Completed:
    """How the request ended; always the last event, and there is exactly one.

    `text` and `thinking` are all of the last attempt. `calls` come in the model's order and are
    empty when `end` is `failed`; when it is `truncated` every one is refused. `failure` is there
    exactly when `end` is `failed`.
    """

    text: str
    thinking: str
    calls: tuple[ModelToolCall, ...]
    end: End
    usage: Usage | None
    failure: ProviderFailure | None
    attempts: int = 1
    first_token_ms: int | None = None
    duration_ms: int = 0


StreamEvent = TextDelta | ThinkingDelta | ToolCallDelta | AttemptFailed | Completed

"""What a member reads when a turn did not simply complete. A closed table; no provider text."""

from typing import Final

from audit.reasons import Reason

GENERAL: Final = "Something went wrong on our side and this answer could not be finished."

MESSAGES: Final[dict[str, str]] = {
    Reason.STOPPED: "Stopped.",
    Reason.MODEL_UNAVAILABLE: (
        "No model is connected. An administrator can connect one under Administration."
    ),
    Reason.SECRET_MISSING: "The model's key is missing. An administrator has to enter it again.",
    Reason.SECRET_ORIGIN_CHANGED: (
        "The model's address has changed. An administrator has to enter its key again."
    ),
    Reason.AGENT_UNAVAILABLE: "This agent is no longer available to you.",
    Reason.ACCOUNT_INACTIVE: "This account is not active.",
    Reason.PROVIDER_UNREACHABLE: "The model could not be reached. Try again in a moment.",
    Reason.PROVIDER_REFUSED: "The model refused the request.",
    Reason.PROVIDER_CREDENTIALS: (
        "The model did not accept its key. An administrator has to check it."
    ),
    Reason.PROVIDER_CUT_OFF: "The connection to the model broke before the answer was complete.",
    Reason.PROVIDER_GARBAGE: "The model sent something that is not an answer.",
    Reason.PROVIDER_EMPTY_RESPONSE: "The model replied with nothing.",
    Reason.PROVIDER_EMPTY_RESPONSE_EXHAUSTED: "The model kept replying with nothing.",
    Reason.RATE_LIMITED: "The model is busy. Try again a little later.",
    Reason.TIMEOUT: "The model took too long to answer.",
    Reason.CONTEXT_TOO_LONG: "This conversation has become too long for the model.",
    Reason.CONTENT_FILTERED: "The model's provider blocked this answer.",
    Reason.OUTPUT_TRUNCATED: "The answer reached the length limit and ends early.",
    Reason.STEP_LIMIT: "This took more steps than one answer may take.",
    Reason.TOOL_ROUND_LIMIT: "This took more tool calls than one answer may take.",
    Reason.WALL_TIME_EXCEEDED: "This took longer than one answer may take.",
    Reason.ATTEMPTS_EXHAUSTED: "This answer was interrupted several times and has been given up.",
    Reason.AMBIGUOUS_WRITE: (
        "A change was interrupted and may or may not have been made. Check it before you retry."
    ),
}


def for_member(reason: str) -> str:
    """The sentence for a reason code; an unknown one gets the general sentence."""
    return MESSAGES.get(reason, GENERAL)

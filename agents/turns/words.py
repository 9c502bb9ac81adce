"""What a member reads when a turn did not simply complete: a closed table of codes and sentences.

Internal codes say exactly what happened and stay in the journal's private side, the audit and the
turn's row; each maps to one member-visible code, and each of those has one sentence. No text of a
provider or a tool is ever part of it.
"""

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
    Reason.PROVIDER_EMPTY_RESPONSE_EXHAUSTED: "The model kept replying with nothing.",
    Reason.RATE_LIMITED: "The model is busy. Try again a little later.",
    Reason.BUDGET_EXHAUSTED: "Your budget for models is used up for now.",
    Reason.TIMEOUT: "The model took too long to answer.",
    Reason.CONTEXT_TOO_LONG: "This conversation has become too long for the model.",
    Reason.CONTENT_FILTERED: "The model's provider blocked this answer.",
    Reason.OUTPUT_TRUNCATED: "The answer reached the length limit and ends early.",
    Reason.STEP_LIMIT: "This took more steps than one answer may take.",
    Reason.TOOL_ROUND_LIMIT: "This took more tool calls than one answer may take.",
    Reason.TOKEN_LIMIT: "This took more text than one answer may take.",
    Reason.WALL_TIME_EXCEEDED: "This took longer than one answer may take.",
    Reason.INACTIVITY_TIMEOUT: "Nothing happened for too long, so this answer was given up.",
    Reason.ATTEMPTS_EXHAUSTED: "This answer was interrupted several times and has been given up.",
    Reason.INTERRUPTED: "This answer was interrupted at a point that cannot be repeated.",
    Reason.AMBIGUOUS_WRITE: (
        "A change was interrupted and may or may not have been made. Check it before you retry."
    ),
    Reason.REPEATED_TOOL_FAILURE: (
        "The same step failed again and again, so it was given up. What you asked for was not done."
    ),
    Reason.REPAIR_EXHAUSTED: (
        "A step that could not be repaired was tried again. What you asked for was not done."
    ),
    Reason.DISCOVERY_EXHAUSTED: (
        "The agent kept searching for tools and used none. What you asked for was not done."
    ),
    Reason.DEPENDENCY_INSTALL_FAILED: "Something this step needs could not be installed.",
    Reason.DENIALS_EXHAUSTED: (
        "The agent kept asking for things it may not do. What you asked for was not done."
    ),
    Reason.POLICY_REFUSED: "This is not allowed here.",
    Reason.REQUIRED_TOOL_BLOCKED: "The step you asked for was not taken, so nothing was done.",
    Reason.MEMBER_DENIED: "You did not allow the change, so it was not made.",
    Reason.APPROVAL_EXPIRED: "Nobody decided in time, so the change was not made.",
    Reason.APPROVAL_MISMATCH: (
        "What was approved is no longer what would be done, so the change was not made."
    ),
    Reason.WITHDRAWN: "Taken back before it began.",
    Reason.STEERED: "Passed on to the answer that was under way.",
    Reason.INTERNAL_ERROR: GENERAL,
}
# Internal codes that are told by the name of another; what stands in neither table is a fault of
# ours to a member, whatever it is to an operator.
TOLD_AS: Final[dict[str, Reason]] = {
    Reason.REPEATED_TOOL_FAILURE_EXHAUSTED: Reason.REPEATED_TOOL_FAILURE,
    Reason.REPEAT_REFUSED: Reason.REPEATED_TOOL_FAILURE,
    Reason.TOOL_ERROR: Reason.REPEATED_TOOL_FAILURE,
    Reason.PROVIDER_EMPTY_RESPONSE: Reason.PROVIDER_EMPTY_RESPONSE_EXHAUSTED,
    Reason.PROVIDER_ERROR: Reason.PROVIDER_REFUSED,
    Reason.PROVIDER_GRAMMAR: Reason.PROVIDER_REFUSED,
    Reason.CERTIFICATES_MISSING: Reason.MODEL_UNAVAILABLE,
    Reason.INVALID_ARGUMENTS: Reason.DENIALS_EXHAUSTED,
    Reason.TOOL_NOT_OFFERED: Reason.DENIALS_EXHAUSTED,
    Reason.BATCH_STOPPED: Reason.STOPPED,
    Reason.RUN_EXPIRED: Reason.INTERRUPTED,
    Reason.LEASE_LOST: Reason.INTERRUPTED,
    Reason.DRAINING: Reason.INTERRUPTED,
    Reason.CALL_ID_REUSED: Reason.INTERNAL_ERROR,
    Reason.QUEUE_REFUSED: Reason.INTERNAL_ERROR,
    Reason.DECISION_UNREACHABLE: Reason.INTERNAL_ERROR,
}


def visible(reason: str) -> str:
    """The one member-visible code of an internal one."""
    if reason in MESSAGES:
        return str(reason)
    return str(TOLD_AS.get(reason, Reason.INTERNAL_ERROR))


def for_member(reason: str) -> str:
    """The sentence for a code; one that is not in the tables gets the general sentence."""
    return MESSAGES[visible(reason)]

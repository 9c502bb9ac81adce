"""How acceptances and refusals look to programs. REST answers and socket replies both say this.

Numbers are HTTP statuses because the public contract gives socket replies "as the POST would
answer"; nothing here knows requests or responses.
"""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from agents.conversations import steers
from agents.conversations.inputs import MESSAGE_CHARACTERS, Accepted, Message
from agents.conversations.models import InputStatus, SteerState
from audit.reasons import Reason
from audit.refusals import Conflict, FieldProblem, Invalid, NotFound, RateLimited, Refusal

ACCEPTED_STATUS: Final = 202
MAX_PROBLEMS: Final = 50  # enough to correct a form, not enough to be an echo
PATH_CHARACTERS: Final = 100

# Statuses of refusals that are not told by their class; everything else is a conflict of states.
_STATUSES: Final[Mapping[Reason, int]] = {
    Reason.BAD_JSON: 400,
    Reason.BAD_REQUEST: 400,
    Reason.INVALID_CURSOR: 400,
    Reason.IDEMPOTENCY_KEY_REQUIRED: 400,
    Reason.IDEMPOTENCY_KEY_INVALID: 400,
    Reason.NOT_AUTHENTICATED: 401,
    Reason.BAD_CREDENTIALS: 401,
    Reason.TOKEN_EXPIRED: 401,
    Reason.TOKEN_REVOKED: 401,
    Reason.ACCOUNT_INACTIVE: 401,
    Reason.SCOPE_MISSING: 403,
    Reason.FORBIDDEN: 403,
    Reason.CSRF_FAILED: 403,
    Reason.ORIGIN_REFUSED: 403,
    Reason.METHOD_NOT_ALLOWED: 405,
    Reason.NOT_ACCEPTABLE: 406,
    Reason.BODY_TOO_LARGE: 413,
    Reason.UNSUPPORTED_MEDIA_TYPE: 415,
    Reason.LIMIT_REACHED: 429,
    Reason.BUDGET_EXHAUSTED: 429,
    Reason.INTERNAL_ERROR: 500,
    Reason.UNAVAILABLE: 503,
    Reason.DRAINING: 503,
}
_FIELDS: Final = frozenset({"kind", "message", "agent", "deployment", "documents", "replaces"})


def status(refusal: Refusal) -> int:
    """The HTTP status of a refusal."""
    match refusal:
        case NotFound():
            return 404
        case Invalid():
            return 422
        case Conflict():
            return 409
        case RateLimited():
            return 429
        case _:
            return _STATUSES.get(refusal.reason, 409)


def error(refusal: Refusal) -> dict[str, Any]:
    """The body of a refusal; a conflict over versions names the current one with its field, and
    has `details` where there is more to say about what has changed.
    """
    fields: list[dict[str, Any]] = [
        {**field, "field": field["field"][:PATH_CHARACTERS]}
        for field in refusal.fields[:MAX_PROBLEMS]
    ]
    if isinstance(refusal, Conflict) and refusal.current is not None:
        fields.append(
            {
                "field": "expected_version",
                "reason": str(refusal.reason),
                "current": refusal.current,
            }
        )
    said = {"code": str(refusal.reason), "message": refusal.message, "fields": fields}
    if isinstance(refusal, Conflict) and refusal.details:
        return {"error": {**said, "details": refusal.details}}
    return {"error": said}


def acceptance(accepted: Accepted) -> dict[str, Any]:
    """The body that answers an accepted input; the same bytes for a repeat, however far the turn
    has come since.
    """
    return {
        "input_id": str(accepted.input_id),
        "accepted_position": accepted.position,
        "status": str(InputStatus.QUEUED),
    }


def steer_acceptance(accepted: steers.Accepted) -> dict[str, Any]:
    """The body that answers an accepted steer; the same bytes for a repeat."""
    return {
        "steer_id": str(accepted.steer_id),
        "accepted_position": accepted.number,
        "status": str(SteerState.PENDING),
    }


def message(body: Any) -> Message:
    """Read the body of an input; raises `Invalid` naming every wrong, missing or unknown field."""
    if not isinstance(body, dict):
        raise Invalid([{"field": "", "reason": str(Reason.INVALID_BODY)}])
    faults = [_fault(str(name), Reason.UNKNOWN_FIELD) for name in sorted(body.keys() - _FIELDS)]
    faults += [
        _fault(name, Reason.MISSING_FIELD) for name in ("kind", "message") if name not in body
    ]
    if body.get("kind", "message") != "message":
        faults.append(_fault("kind", Reason.INVALID_FIELD))
    if not isinstance(body.get("message", ""), str):
        faults.append(_fault("message", Reason.INVALID_FIELD))
    if not isinstance(body.get("agent"), str | None):
        faults.append(_fault("agent", Reason.INVALID_FIELD))
    # No document of this member can exist before documents can be uploaded.
    if body.get("documents") not in (None, []):
        faults.append(_fault("documents", Reason.NOT_FOUND))
    deployment_id = _id(body, "deployment", faults)
    replaces = _id(body, "replaces", faults)
    if faults:
        raise Invalid(faults)
    return Message(
        text=body["message"],
        agent=body.get("agent"),
        deployment_id=deployment_id,
        replaces=replaces,
    )


def steering(body: Any) -> tuple[UUID, str]:
    """Read the body of a steer: the turn and the message; raises `Invalid` like `message`."""
    if not isinstance(body, dict):
        raise Invalid([{"field": "", "reason": str(Reason.INVALID_BODY)}])
    faults = [
        _fault(str(name), Reason.UNKNOWN_FIELD)
        for name in sorted(body.keys() - {"message", "turn_id"})
    ]
    faults += [
        _fault(name, Reason.MISSING_FIELD) for name in ("message", "turn_id") if name not in body
    ]
    text = body.get("message", "")
    if not isinstance(text, str):
        faults.append(_fault("message", Reason.INVALID_FIELD))
    elif len(text) > MESSAGE_CHARACTERS:
        faults.append(_fault("message", Reason.TOO_LONG))
    turn_id = _id(body, "turn_id", faults)
    if "turn_id" in body and body["turn_id"] is None:
        faults.append(_fault("turn_id", Reason.INVALID_FIELD))
    if faults or turn_id is None:
        raise Invalid(faults)
    return turn_id, text


def _id(body: dict[str, Any], name: str, faults: list[FieldProblem]) -> UUID | None:
    """The id in a field, None where there is none; what cannot be one is noted."""
    if body.get(name) is None:
        return None
    try:
        return UUID(str(body[name]))
    except ValueError:
        faults.append(_fault(name, Reason.INVALID_FIELD))
        return None


def _fault(field: str, reason: Reason) -> FieldProblem:
    return {"field": field, "reason": str(reason)}

"""The last step before a call that may change something: its member's approval where one is
needed, and its intent on record.

Everything happens in one transaction that holds the run's claim, so that an approval is used once,
by the worker that owns the run, and a call that had begun is never begun again.
"""

from dataclasses import dataclass, replace
from typing import Final
from uuid import uuid4

from audit.reasons import Reason
from audit.refusals import Refusal
from tools.boundary import approvals, policies
from tools.boundary.contract import Json, Parked, RunIdentity, ToolCall
from tools.boundary.failures import Denial
from tools.boundary.models import Approval, ApprovalState
from tools.boundary.permission import By, Permitted, answer
from tools.boundary.redaction import readable_value
from tools.effects import claims, reservations

# What an approval that is not there to be used says to the call.
ENDS: Final[dict[str, Reason]] = {
    ApprovalState.DENIED: Reason.MEMBER_DENIED,
    ApprovalState.WITHDRAWN: Reason.MEMBER_DENIED,
    ApprovalState.EXPIRED: Reason.APPROVAL_EXPIRED,
    ApprovalState.SUPERSEDED: Reason.BATCH_STOPPED,
}
DETAILS: Final[dict[Reason, str]] = {
    Reason.MEMBER_DENIED: "The member did not allow this call.",
    Reason.APPROVAL_EXPIRED: "The member did not decide in time.",
    Reason.APPROVAL_MISMATCH: "What was approved is no longer what would be done.",
    Reason.APPROVAL_SETTLED: "The approval has been used.",
    Reason.BATCH_STOPPED: "The turn was stopped before this call.",
}


@dataclass(frozen=True)
class Begun:
    """The call had begun under an earlier worker: its outcome is unknown."""


def clear(
    call: ToolCall, identity: RunIdentity, permitted: Permitted
) -> Permitted | Denial | Parked | Begun:
    """Whether a permitted call that may change something can begin now; then it has begun.

    In the caller's transaction. Nothing begins once the run was asked to stop. Raises `LeaseLost`
    when the run is worked elsewhere.
    """
    if claims.prove(identity.run_id, identity.fence):
        stopped = Denial(Reason.BATCH_STOPPED, DETAILS[Reason.BATCH_STOPPED])
        return _because(permitted, "member", stopped)
    asks = policies.asks(permitted.descriptor, permitted.mode)
    # Only an earlier worker can have asked: whoever asks gives the run up.
    asked = approvals.of_call(identity.run_id, call.call_id) if asks or identity.fence > 1 else None
    if asks or asked is not None:
        ruling = _approved(call, identity, permitted, asked)
        if not isinstance(ruling, Permitted):
            return ruling
    begins = reservations.begin(identity.run_id, identity.fence, call.call_id)
    return permitted if begins else Begun()


def close(call: ToolCall, identity: RunIdentity) -> None:
    """A call of a resumed run was denied: an approval it may have is void."""
    if identity.fence > 1:
        claims.prove(identity.run_id, identity.fence)
        approvals.drop(identity.run_id, call.call_id)


def _approved(
    call: ToolCall, identity: RunIdentity, permitted: Permitted, asked: Approval | None
) -> Permitted | Denial | Parked | Begun:
    """The call with its approval used up, or what stands in its way."""
    if asked is not None and asked.state == ApprovalState.CONSUMED:
        return Begun()
    if asked is not None and asked.state in ENDS:
        return _denied(permitted, ENDS[asked.state], asked.reason)
    try:
        parked = _staged(call, identity, permitted, asked)
    except Refusal as refusal:
        return _because(permitted, "schema", Denial(Reason.INVALID_ARGUMENTS, refusal.message))
    if asked is None or asked.state in (ApprovalState.PENDING, ApprovalState.UNASKED):
        return parked
    refused = approvals.consume(asked, fence=identity.fence, digest=parked.requested["digest"])
    return permitted if refused is None else _denied(permitted, refused)


def _staged(
    call: ToolCall, identity: RunIdentity, permitted: Permitted, asked: Approval | None
) -> Parked:
    """The exact call as its member is asked about it.

    Raises `Refusal` for a target that is not there, and for arguments that cannot be shown as they
    are: nobody could know what they approve.
    """
    descriptor, arguments = permitted.descriptor, permitted.arguments
    target = descriptor.target(identity, arguments) if descriptor.target else None
    if readable_value(arguments) != _with_plain_newlines(arguments):
        raise Refusal(
            Reason.INVALID_FIELD,
            "The arguments hold a credential or invisible characters, so that nobody could approve"
            " them. Leave those out.",
        )
    approval_id = asked.id if asked is not None else uuid4()
    words = "You are asked before this call is made."
    return Parked(
        call=call,
        approval_id=approval_id,
        requested={
            "approval_id": str(approval_id),
            "call_id": call.call_id,
            "tool": descriptor.name,
            "label": descriptor.label,
            "effect": str(descriptor.tier),
            "target": target.text if target else "",
            "arguments": arguments,
            "digest": approvals.digest_of(identity, descriptor.name, arguments, target),
            "why": [
                *permitted.why,
                answer("approval", "needs_approval", words, Reason.APPROVAL_REQUIRED),
            ],
        },
        asked=asked is not None,
    )


def _denied(permitted: Permitted, reason: Reason, wrote: str = "") -> Denial:
    detail = DETAILS[reason]
    told = ""
    if reason is Reason.MEMBER_DENIED and wrote:
        told = f"You did not allow this: {wrote}"
        detail = f"{detail} They wrote: {wrote}"
    return _because(permitted, "approval", Denial(reason, detail, told=told))


def _because(permitted: Permitted, by: By, denial: Denial) -> Denial:
    """The denial with who decided it, after all that had allowed the call."""
    line = answer(by, "denied", denial.words, denial.reason)
    return replace(denial, why=(*permitted.why, line))


def _with_plain_newlines(value: Json) -> Json:
    """The value with the one change that showing it may make: how lines end."""

    def plain(inner: object) -> object:
        if isinstance(inner, str):
            return inner.replace("\r\n", "\n").replace("\r", "\n")
        if isinstance(inner, dict):
            return {plain(key): plain(each) for key, each in inner.items()}
        if isinstance(inner, list | tuple):
            return [plain(each) for each in inner]
        return inner

    return {str(plain(key)): plain(inner) for key, inner in value.items()}

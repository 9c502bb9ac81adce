"""Whether a call may run: permission as it is now, repeats, and clearance for a change.

Decided and recorded in one transaction off the event loop. A call that may change something is
recorded before it runs; if that row cannot be written, nothing runs.
"""

import logging
from dataclasses import replace
from typing import Final

from django.db import transaction

from audit import funnel
from audit.reasons import Action, Outcome, Reason
from tools.boundary import clearance, permission
from tools.boundary.clearance import Begun
from tools.boundary.contract import Parked, Ports, RunIdentity, ToolCall, ToolKind, ToolOutcome
from tools.boundary.failures import Denial
from tools.boundary.permission import Permitted
from tools.effects.claims import LeaseLost

UNKNOWN_TOOL = "unknown"  # stands in the audit for whatever name a model invented

GIVEN_AGAIN: Final = permission.answer(
    "repeat",
    "narrowed",
    "The same call was made before in this turn; its result is given again.",
    Reason.REPEAT_SUPPRESSED,
)
HOPELESS: Final = permission.answer(
    "repeat",
    "denied",
    "The same call failed before in this turn and would fail again.",
    Reason.REPEAT_REFUSED,
)

Verdict = Permitted | Denial | Parked | Begun | ToolOutcome

logger = logging.getLogger(__name__)


async def decide(call: ToolCall, identity: RunIdentity, ports: Ports) -> Verdict:
    """Stages one to three; an outcome stands for a repeat that must not run.

    Raises `LeaseLost` and nothing else of its own.
    """
    try:
        return await ports.in_database(_decided, call, identity, ports)
    except LeaseLost:
        raise
    except Exception:  # whatever kept this from being decided and recorded, the call must not run
        logger.exception("tool call %s could not be decided", call.call_id)
        denial = Denial(
            Reason.DECISION_UNREACHABLE, "It could not be checked whether this call is allowed."
        )
        why = permission.answer("member", "denied", denial.words, denial.reason)
        return Denial(denial.reason, denial.detail, why=(why,))


def row_details(call: ToolCall, identity: RunIdentity) -> dict[str, str | int]:
    """What every audit row about a call says of where it came from."""
    return {
        "call_id": call.call_id,
        "step": call.step,
        "ordinal": call.ordinal,
        "agent_version": identity.agent_version,
        "member_id": identity.member_id,
    }


def _decided(call: ToolCall, identity: RunIdentity, ports: Ports) -> Verdict:
    with transaction.atomic():
        verdict = _verdict(call, identity, ports)
        match verdict:
            case ToolOutcome():
                _record_repeat(verdict, identity)
            case Denial():
                _record_denial(call, identity, ports, verdict)
            case Permitted() if verdict.descriptor.kind is ToolKind.WRITE:
                _record_authorised(call, identity, verdict)
    return verdict


def _verdict(call: ToolCall, identity: RunIdentity, ports: Ports) -> Verdict:
    verdict: Verdict = permission.permit(call, ports, ports.authority(identity))
    if isinstance(verdict, Permitted):
        if repeat := _repeat(call, verdict, ports):
            return repeat
        if verdict.descriptor.kind is ToolKind.WRITE:
            verdict = clearance.clear(call, identity, verdict)
    if isinstance(verdict, Denial):
        clearance.close(call, identity)
    return verdict


def _repeat(call: ToolCall, permitted: Permitted, ports: Ports) -> ToolOutcome | None:
    """What the run's memory says to a call that may run."""
    if ports.memory is None:
        return None
    digest = permitted.arguments_digest
    repeat = ports.memory.ledger.answer(permitted.descriptor, digest, call)
    if repeat is None:
        return None
    line = GIVEN_AGAIN if repeat.repeat == "suppressed" else HOPELESS
    return replace(repeat, why=(*permitted.why, line))


def _record_denial(call: ToolCall, identity: RunIdentity, ports: Ports, denial: Denial) -> None:
    funnel.record(
        action=Action.TOOL_DENIED,
        actor=f"agent:{identity.agent_id}",
        outcome=Outcome.DENIED,
        reason=denial.reason,
        subject=("tool", call.name if call.name in ports.offered else UNKNOWN_TOOL),
        run_id=identity.run_id,
        details=row_details(call, identity),
    )


def _record_authorised(call: ToolCall, identity: RunIdentity, permitted: Permitted) -> None:
    funnel.record(
        action=Action.TOOL_AUTHORISED,
        actor=f"agent:{identity.agent_id}",
        outcome=Outcome.SUCCESS,
        subject=("tool", call.name),
        run_id=identity.run_id,
        details={
            **row_details(call, identity),
            "tier": str(permitted.descriptor.tier),
            "arguments_digest": permitted.arguments_digest,
        },
    )


def _record_repeat(repeat: ToolOutcome, identity: RunIdentity) -> None:
    suppressed = repeat.repeat == "suppressed"
    funnel.record(
        action=Action.TOOL_CALLED,
        actor=f"agent:{identity.agent_id}",
        outcome=Outcome.REPEAT_SUPPRESSED if suppressed else Outcome.ERROR,
        reason=Reason.REPEAT_SUPPRESSED if suppressed else Reason.REPEAT_REFUSED,
        subject=("tool", repeat.call.name),
        run_id=identity.run_id,
        details={
            **row_details(repeat.call, identity),
            "arguments_digest": repeat.arguments_digest,
        },
    )

"""Whether a call may run: authority as it is now, the offer, the ceiling, the arguments.

Decided and recorded in one transaction off the event loop. A call that may change something is
recorded before it runs; if that row cannot be written, nothing runs.
"""

import logging
from dataclasses import dataclass

from django.db import transaction

from audit import canonical, funnel
from audit.limits import limit
from audit.reasons import Action, Outcome, Reason
from audit.refusals import Refusal
from tools.boundary import schemas
from tools.boundary.contract import (
    Authority,
    Json,
    Ports,
    RunIdentity,
    ToolCall,
    ToolDescriptor,
    ToolKind,
    ToolOutcome,
)
from tools.boundary.exposure import within
from tools.boundary.failures import Denial
from tools.effects.claims import LeaseLost

ARGUMENT_BYTES = limit(
    "tool.arguments", 1_048_576, "bytes", "Size of the arguments of one tool call, as JSON."
)
UNKNOWN_TOOL = "unknown"  # stands in the audit for whatever name a model invented

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Admitted:
    """A call that may run now, with arguments that satisfy the tool's whole schema."""

    descriptor: ToolDescriptor
    arguments: Json
    arguments_digest: str


async def decide(
    call: ToolCall, identity: RunIdentity, ports: Ports
) -> Admitted | Denial | ToolOutcome:
    """Stages one to three; an outcome stands for a repeat that must not run.

    Raises `LeaseLost` and nothing else of its own.
    """
    try:
        return await ports.in_database(_decided, call, identity, ports)
    except LeaseLost:
        raise
    except Exception:  # whatever kept this from being decided and recorded, the call must not run
        logger.exception("tool call %s could not be decided", call.call_id)
        return Denial(
            Reason.DECISION_UNREACHABLE, "It could not be checked whether this call is allowed."
        )


def row_details(call: ToolCall, identity: RunIdentity) -> dict[str, str | int]:
    """What every audit row about a call says of where it came from."""
    return {
        "call_id": call.call_id,
        "step": call.step,
        "ordinal": call.ordinal,
        "agent_version": identity.agent_version,
        "member_id": identity.member_id,
    }


def _decided(
    call: ToolCall, identity: RunIdentity, ports: Ports
) -> Admitted | Denial | ToolOutcome:
    with transaction.atomic():
        verdict = _verdict(call, ports, ports.authority(identity))
        if isinstance(verdict, Admitted) and (repeat := _repeat(call, verdict, ports)):
            _record_repeat(repeat, identity)
            return repeat
        if isinstance(verdict, Denial):
            funnel.record(
                action=Action.TOOL_DENIED,
                actor=f"agent:{identity.agent_id}",
                outcome=Outcome.DENIED,
                reason=verdict.reason,
                subject=("tool", call.name if call.name in ports.offered else UNKNOWN_TOOL),
                run_id=identity.run_id,
                details=row_details(call, identity),
            )
        elif verdict.descriptor.kind is ToolKind.WRITE:
            funnel.record(
                action=Action.TOOL_AUTHORISED,
                actor=f"agent:{identity.agent_id}",
                outcome=Outcome.SUCCESS,
                subject=("tool", call.name),
                run_id=identity.run_id,
                details={
                    **row_details(call, identity),
                    "tier": str(verdict.descriptor.tier),
                    "arguments_digest": verdict.arguments_digest,
                },
            )
    return verdict


def _repeat(call: ToolCall, admitted: Admitted, ports: Ports) -> ToolOutcome | None:
    """What the run's memory says to a call that may run."""
    if ports.memory is None:
        return None
    return ports.memory.ledger.answer(admitted.descriptor, admitted.arguments_digest, call)


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


def _verdict(call: ToolCall, ports: Ports, authority: Authority | None) -> Admitted | Denial:
    if authority is None:
        return Denial(Reason.DECISION_UNREACHABLE, "The right to act could not be proven.")
    if ports.memory is not None and ports.memory.has_settled(call.call_id):
        return Denial(Reason.CALL_ID_REUSED, "This call has its result already.")
    descriptor = ports.offered.get(call.name)
    if descriptor is None:
        names = ", ".join(ports.offered) or "none"
        return Denial(
            Reason.TOOL_NOT_OFFERED, f"There is no tool of this name here. Offered are: {names}."
        )
    if call.name not in authority.tool_names:
        return Denial(Reason.POLICY_REFUSED, "This tool is no longer allowed in this turn.")
    if not within(descriptor.tier, authority.ceiling):
        return Denial(
            Reason.POLICY_REFUSED,
            f"This tool needs the {descriptor.tier} tier; the agent may go up to"
            f" {authority.ceiling}.",
        )
    return _with_arguments(call, descriptor)


def _with_arguments(call: ToolCall, descriptor: ToolDescriptor) -> Admitted | Denial:
    if call.arguments is None:
        return _invalid(descriptor, call.unreadable or "The arguments are not a JSON object.")
    try:
        text = canonical.dump(call.arguments)
    except Refusal as refusal:
        return _invalid(descriptor, refusal.message)
    if len(text.encode()) > ARGUMENT_BYTES:
        return _invalid(descriptor, f"The arguments are larger than {ARGUMENT_BYTES:,} bytes.")
    problems = schemas.problems(descriptor.parameters, call.arguments)
    if problems:
        return _invalid(descriptor, "The arguments do not fit the tool.", *problems)
    return Admitted(descriptor, call.arguments, canonical.digest(call.arguments))


def _invalid(descriptor: ToolDescriptor, detail: str, *problems: schemas.Problem) -> Denial:
    return Denial(
        Reason.INVALID_ARGUMENTS,
        detail,
        problems=problems,
        expected_schema=schemas.advertised(descriptor.parameters),
    )

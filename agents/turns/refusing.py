"""Calls that the rules of conduct keep from the boundary: answered, counted and recorded here."""

import json
from typing import Final

from agents.journal.offloading import in_database
from audit import canonical, funnel, metrics
from audit.reasons import Action, ErrorClass, Outcome, Reason
from audit.refusals import Refusal
from tools.boundary import facts
from tools.boundary.authority import UNKNOWN_TOOL, row_details
from tools.boundary.contract import Ports, RunIdentity, ToolCall, ToolOutcome
from tools.boundary.failures import DENIALS

LOCKED: Final = (
    "This call was not run: another try has to keep the arguments the last failure named, and has"
    " to be of the same tool."
)
SEALED: Final = (
    "This call was not run: after the last failure nothing else may be tried. The turn ends."
)
OWED: Final = "This call was not run: the person asked for a call of {tool} first."


def refusal(call: ToolCall, reason: Reason, owed: str) -> ToolOutcome:
    """The result of a blocked call. What the model may put right is an error it reads; everything
    else is final. `owed` is the tool that has to come first.
    """
    if reason is Reason.REPEAT_REFUSED:
        return ToolOutcome(
            call=call,
            outcome="error",
            model_view=_view("error", LOCKED),
            member_view={"message": "Another try changed what had to stay, so it was not made."},
            error_class=ErrorClass.INVALID_ARGUMENT,
            failure_domain="caller",
            denial=reason,
            arguments_digest=_digest(call),
            repeat="refused",
        )
    text = SEALED if reason is Reason.REPAIR_EXHAUSTED else OWED.format(tool=owed)
    return ToolOutcome(
        call=call,
        outcome="denied",
        model_view=_view("denied", text),
        member_view={"message": DENIALS[reason]},
        denial=reason,
        ends_turn=reason,
        arguments_digest=_digest(call),
    )


async def refuse(refused: ToolOutcome, identity: RunIdentity, ports: Ports) -> ToolOutcome:
    """Count and record a blocked call; raises what keeps it from being recorded."""
    await in_database(_record, refused, identity, ports)
    metrics.tool_run(refused.outcome)
    if ports.memory is not None:
        ports.memory.observe(facts.of(refused), refused.model_view, refused.member_view)
    return refused


def _record(refused: ToolOutcome, identity: RunIdentity, ports: Ports) -> None:
    call = refused.call
    funnel.record(
        action=Action.TOOL_DENIED,
        actor=f"agent:{identity.agent_id}",
        outcome=Outcome.DENIED,
        reason=refused.denial,
        subject=("tool", call.name if call.name in ports.offered else UNKNOWN_TOOL),
        run_id=identity.run_id,
        details=row_details(call, identity),
    )


def _view(outcome: str, text: str) -> str:
    return json.dumps({"outcome": outcome, "message": text})


def _digest(call: ToolCall) -> str:
    try:
        return canonical.digest(call.arguments or {})
    except Refusal:
        return ""

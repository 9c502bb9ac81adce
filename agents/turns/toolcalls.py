"""Journal drafts of tool calls, their facts for the engine, and outcomes that reach no tool."""

import json
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from agents.engine.events import CallRequested, Repair, ToolSettled
from agents.gateway.events import EXPLANATIONS, CallRefusal
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.turns.offers import StepOffer
from audit import canonical
from audit.reasons import ErrorClass, Reason
from audit.refusals import Refusal
from tools.boundary import facts, permission
from tools.boundary.contract import ToolCall, ToolOutcome
from tools.boundary.facts import CallFacts
from tools.boundary.projection import shown_arguments

UNTOLD: Final = "This call was not allowed. Do without it and answer the member."


def requested(call: ToolCall, *, writes: bool) -> CallRequested:
    """What the engine sees of a call: digests, no content."""
    arguments = call.arguments or {}
    return CallRequested(
        call_id=call.call_id,
        name=call.name,
        readable=call.unreadable is None,
        digest=digest(arguments),
        fields=tuple((name, digest(value)) for name, value in sorted(arguments.items())),
        writes=writes,
    )


def id_of(turn_id: UUID, step: int, place: int) -> str:
    """Our id of the call at a place of a step; a step that is asked again has the same ones."""
    return f"{turn_id.hex[:12]}-{step}-{place}"


def digest(value: Any) -> str:
    """The canonical digest; empty for what no store of ours takes, which the boundary refuses."""
    try:
        return canonical.digest(value)
    except Refusal:
        return ""


def settled(kept: CallFacts) -> ToolSettled:
    """What the engine sees of a result."""
    repair = kept.repair
    directive = None
    if repair is not None:
        directive = Repair(
            retryable=repair.retryable,
            same_tool_required=repair.same_tool_required,
            locked_arguments=tuple(repair.locked_arguments),
            substitutable=repair.substitutable,
        )
    return ToolSettled(
        call_id=kept.call_id,
        outcome=kept.outcome,
        ends_turn=kept.ends_turn,
        tool=kept.tool,
        arguments_digest=kept.arguments_digest,
        denial=kept.denial,
        error_class=kept.error_class,
        failure_domain=kept.failure_domain,
        repair=directive,
        discovery=kept.discovery,
    )


def call_draft(call: ToolCall, offer: StepOffer, *, truncated: bool, begins: bool = False) -> Draft:
    """What people see of a call, and what a later worker needs to run it. `begins` says that it
    begins to execute as soon as this is journaled; otherwise it is queued.
    """
    descriptor = offer.tools.get(call.name)
    return Draft(
        Kind.TOOL_STARTED,
        {
            "call_id": call.call_id,
            "name": call.name,
            "label": descriptor.label if descriptor else call.name,
            "arguments": shown_arguments(call.arguments),
            "kind": str(descriptor.kind) if descriptor else None,
            "tier": str(descriptor.tier) if descriptor else None,
            "state": "running" if begins else "queued",
            "step": call.step,
        },
        {
            "step": call.step,
            "ordinal": call.ordinal,
            "provider_id": call.provider_id,
            "arguments": json.dumps(call.arguments or {}, ensure_ascii=False),
            "unreadable": call.unreadable,
            "truncated": truncated,
            "snapshot": offer.to_json(),
        },
    )


def begun_draft(call: ToolCall) -> Draft:
    """What people see when a queued call begins to execute; nobody else reads it."""
    data = {"call_id": call.call_id, "name": call.name, "state": "running"}
    return Draft(Kind.TOOL_STARTED, data, {"step": call.step, "excluded": True})


def result_drafts(outcome: ToolOutcome, *, waited: bool = False) -> list[Draft]:
    """A call's result, followed by what it presents. The private part holds all that policies
    look at, so that a worker which takes the run over judges from the same facts; `waited` that
    the call's batch had to wait for a person.
    """
    data: dict[str, Any] = {
        "call_id": outcome.call.call_id,
        "outcome": outcome.outcome,
        "result": outcome.member_view,
        "error_class": str(outcome.error_class) if outcome.error_class else None,
        "failure_domain": outcome.failure_domain,
        "duration_ms": outcome.duration_ms,
    }
    if why := permission.reasons_of(outcome):
        data["why"] = list(why)
    private = {
        "step": outcome.call.step,
        "model_view": outcome.model_view,
        "ends_turn": str(outcome.ends_turn or ""),
        "facts": facts.to_json(facts.of(outcome)),
        "waited": waited,
    }
    shown = [Draft(Kind(part.kind), part.data) for part in outcome.presentation]
    if outcome.sources:
        shown.append(Draft(Kind.SOURCES, {"sources": list(outcome.sources)}))
    return [Draft(Kind.TOOL_ENDED, data, private), *shown]


def untold(outcome: ToolOutcome) -> ToolOutcome:
    """A denial whose cause the model may not read."""
    view = json.dumps({"outcome": "denied", "message": UNTOLD})
    return replace(outcome, model_view=view)


def cut_off(call: ToolCall) -> ToolOutcome:
    """The result of a call in a response that the output limit cut: not run."""
    text = EXPLANATIONS[CallRefusal.TRUNCATED]
    return ToolOutcome(
        call=call,
        outcome="error",
        model_view=json.dumps({"error": text}),
        member_view={"message": text},
        error_class=ErrorClass.INVALID_ARGUMENT,
        failure_domain="caller",
        denial=Reason.OUTPUT_TRUNCATED,
    )


def unknown(call: ToolCall) -> ToolOutcome:
    """The result of a write that had begun before its worker was lost: never repeated."""
    text = "The change was interrupted; whether it was made is unknown."
    return ToolOutcome(
        call=call,
        outcome="error",
        model_view=json.dumps({"error": text}),
        member_view={"message": text},
        error_class=ErrorClass.TOOL_ERROR,
        ends_turn=Reason.AMBIGUOUS_WRITE,
    )


def never_dispatched(call: ToolCall) -> ToolOutcome:
    """The result of a call that had not begun when its turn was over: not run."""
    text = "The turn had ended before this call."
    return ToolOutcome(
        call=call,
        outcome="denied",
        model_view=json.dumps({"outcome": "denied", "message": text}),
        member_view={"message": text},
        denial=Reason.BATCH_STOPPED,
    )


def broken_off(call: ToolCall) -> ToolOutcome:
    """The result of a reading call that was under way when the turn was given up."""
    text = "The call was broken off because nothing happened for too long."
    return ToolOutcome(
        call=call,
        outcome="cancelled",
        model_view=json.dumps({"error": text}),
        member_view={"message": text},
    )

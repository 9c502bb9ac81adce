"""Journal drafts of tool calls, and the outcomes that never reach a tool."""

import json
from typing import Any

from agents.gateway.events import EXPLANATIONS, CallRefusal
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.turns.admission import Admitted
from audit.reasons import ErrorClass
from tools.boundary.contract import ToolCall, ToolOutcome
from tools.boundary.projection import shown_arguments


def call_draft(call: ToolCall, admitted: Admitted, *, truncated: bool) -> Draft:
    """What people see of a call, and what a later worker needs to run it."""
    descriptor = admitted.offered.get(call.name)
    return Draft(
        Kind.TOOL_STARTED,
        {
            "call_id": call.call_id,
            "name": call.name,
            "label": descriptor.label if descriptor else call.name,
            "arguments": shown_arguments(call.arguments),
            "state": "queued",
            "step": call.step,
        },
        {
            "step": call.step,
            "ordinal": call.ordinal,
            "provider_id": call.provider_id,
            "arguments": json.dumps(call.arguments or {}, ensure_ascii=False),
            "unreadable": call.unreadable,
            "truncated": truncated,
        },
    )


def result_drafts(outcome: ToolOutcome) -> list[Draft]:
    """A call's result, followed by what it presents."""
    data: dict[str, Any] = {
        "call_id": outcome.call.call_id,
        "outcome": outcome.outcome,
        "result": outcome.member_view,
        "error_class": str(outcome.error_class) if outcome.error_class else None,
        "duration_ms": outcome.duration_ms,
    }
    if outcome.why:
        data["why"] = list(outcome.why)
    private = {
        "step": outcome.call.step,
        "model_view": outcome.model_view,
        "ends_turn": str(outcome.ends_turn or ""),
    }
    shown = [Draft(Kind(part.kind), part.data) for part in outcome.presentation]
    if outcome.sources:
        shown.append(Draft(Kind.SOURCES, {"sources": list(outcome.sources)}))
    return [Draft(Kind.TOOL_ENDED, data, private), *shown]


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
    )

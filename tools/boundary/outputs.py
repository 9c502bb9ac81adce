"""Artifacts that a tool's result declares: kept after its success, taken out of what is read.

The server alone says how it went. A producer's own words about its outputs are passed on only when
every one of them was saved.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from audit import canonical
from tools.boundary.contract import (
    ArtifactOutput,
    Json,
    KeptOutputs,
    Ports,
    RunIdentity,
    ToolCall,
    ToolOutcome,
    ToolResult,
)
from tools.boundary.interruption import Interruptible
from tools.boundary.redaction import readable, readable_value

NOTICE: Final = "_artifact_output"
NOTICE_ROOM: Final = 4_500  # bytes of a view that no notice exceeds
INSTRUCTION_CHARACTERS: Final = 500
TITLE_CHARACTERS: Final = 80  # of each saved artifact's title in the notice
# What a producer may call its word to the model; none of these may contradict a failure.
INSTRUCTIONS: Final = frozenset(
    {"message", "instruction", "instructions", "response_instruction", "next_step"}
)
# Where a payload would repeat its declarations.
RAW: Final = frozenset({NOTICE, "artifact_outputs", "io.kamiwaza/artifact"})

SAVED: Final = "Saved. Tell the member the titles; do not repeat the content."
FAILED: Final = (
    "{failed} of {declared} declared outputs could not be saved. Tell the member so plainly. Do not"
    " say that they were saved and do not write their content into the answer instead."
)
TOLD_SAVED: Final = "{saved} saved as artifacts."
TOLD_FAILED: Final = "{saved} saved as artifacts, {failed} could not be saved."


async def kept(
    call: ToolCall, identity: RunIdentity, ports: Ports, result: ToolResult
) -> KeptOutputs | None:
    """Keep what a result that succeeded declares; None when it declares nothing.

    A fault of the database is raised, since it leaves open what was written.
    """
    outputs = result.artifact_outputs
    if result.outcome != "success" or not outputs:
        return None
    if ports.keep_outputs is None:
        return KeptOutputs((), len(outputs))
    return await Interruptible(ports.in_database)(
        ports.keep_outputs, identity, call.call_id, outputs
    )


def bare(result: ToolResult, outputs: KeptOutputs | None) -> ToolResult:
    """The result as its projections may see it: without declarations, and after a failure without
    the producer's own instructions. A notice that the tool wrote itself is always taken out.
    """
    if not result.artifact_outputs and NOTICE not in result.payload:
        return result
    silenced = {NOTICE, *(INSTRUCTIONS if outputs is not None and outputs.failed else ())}
    payload = {name: value for name, value in result.payload.items() if name not in silenced}
    return replace(
        result,
        payload=_without(payload, result.artifact_outputs),
        artifact_outputs=(),
        output_instruction="",
    )


def noticed(outcome: ToolOutcome, result: ToolResult, outputs: KeptOutputs) -> ToolOutcome:
    """The outcome with the notice in both views and a frame for each saved artifact."""
    notice = _notice(result, outputs)
    told = TOLD_FAILED if outputs.failed else TOLD_SAVED
    counts = {"saved": len(outputs.saved), "failed": outputs.failed}
    view = {**json.loads(outcome.model_view), NOTICE: notice}
    member = {
        **outcome.member_view,
        NOTICE: {**counts, "message": told.format(**counts)},
    }
    return replace(
        outcome,
        model_view=canonical.dump(view),
        member_view=member,
        presentation=(*outcome.presentation, *outputs.saved),
    )


def _notice(result: ToolResult, outputs: KeptOutputs) -> Json:
    saved, failed = len(outputs.saved), outputs.failed
    instruction = readable(result.output_instruction)[:INSTRUCTION_CHARACTERS] or SAVED
    if failed:
        instruction = FAILED.format(failed=failed, declared=saved + failed)
    return {
        "saved": saved,
        "failed": failed,
        "message": instruction,
        "artifacts": [
            {
                "id": frame.data["artifact_id"],
                "version": frame.data["version"],
                "title": readable_value(frame.data["title"])[:TITLE_CHARACTERS],
            }
            for frame in outputs.saved
        ],
    }


def _without(payload: Json, outputs: Sequence[ArtifactOutput]) -> Json:
    """A copy of a payload in which no declaration is left, also where a text repeats one."""
    envelopes = [output.envelope for output in outputs if isinstance(output.envelope, dict)]

    def is_raw(value: Any) -> bool:
        return isinstance(value, dict) and value in envelopes

    def repeats(value: Any) -> bool:
        if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
            return False
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):
            return False
        return is_raw(read) or bool(cleaned(read) != read)

    def cleaned(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: cleaned(inner)
                for name, inner in value.items()
                if name not in RAW and not is_raw(inner) and not repeats(inner)
            }
        if isinstance(value, list):
            return [cleaned(inner) for inner in value if not is_raw(inner) and not repeats(inner)]
        return value

    without: Json = cleaned(payload)
    return without

"""What tools that write artifacts have in common: whose write it is, and what is said about it."""

from collections.abc import Callable
from typing import Any, Final

from artifacts import writing
from artifacts.kinds.content import LANGUAGE_CHARACTERS, BrokenContract
from artifacts.models import ArtifactVersion
from audit.reasons import ErrorClass, Reason
from audit.refusals import Conflict, NotFound, Refusal
from tools.boundary import failures
from tools.boundary.contract import (
    Json,
    Presentation,
    RepairDirective,
    RunIdentity,
    ToolContext,
    ToolResult,
)

Write = Callable[[RunIdentity, str, Json], ArtifactVersion]

TRY_AGAIN: Final = RepairDirective(retryable=True, same_tool_required=True)
LANGUAGE: Final[Json] = {
    "type": "string",
    "maxLength": int(LANGUAGE_CHARACTERS),
    "description": "Only for kind code, in lower case, for example: python, html, sql",
}


async def written(context: ToolContext, write: Write, arguments: Json) -> ToolResult:
    """Write a version and answer with its durable reference, or say why nothing was written."""
    try:
        version = await context.in_database(write, context.identity, context.call_id, arguments)
    except Refusal as refusal:
        return refused(refusal)
    root = version.artifact
    saved: Json = {
        "artifact_id": str(root.id),
        "version": version.number,
        "title": root.title,
        "kind": root.kind,
    }
    return ToolResult(
        "success",
        {
            "artifact": {
                "id": str(root.id),
                "version": version.number,
                "tag": version.tag,
                "digest": version.digest,
                "title": root.title,
                "kind": root.kind,
            },
            "message": "Saved. Tell the member its title; do not repeat the content.",
        },
        presentation=(Presentation("artifact_saved", saved),),
    )


def refused(refusal: Refusal) -> ToolResult:
    """Why nothing was written, with what the model needs to do better."""
    match refusal:
        case BrokenContract():
            retry = {"expected_schema": refusal.expected_schema}
            return failures.refused(refusal, found=refusal.found, repair=TRY_AGAIN, retry=retry)
        case Conflict(reason=Reason.STALE_VERSION):
            return _stale(refusal, "The artifact has a newer version. Read it, then change that.")
        case Conflict(reason=Reason.CONTENT_MISMATCH) if refusal.current is not None:
            return _stale(refusal, refusal.message)
        case NotFound():
            return failures.error(ErrorClass.NOT_FOUND, "There is no artifact with this id.")
    return failures.refused(refusal)


def for_member(result: ToolResult) -> Json:
    """What was saved, by its durable reference."""
    saved = result.payload.get("artifact")
    if saved is None:
        return {"message": "Nothing was saved."}
    return {
        "message": f"Saved “{saved['title']}”, version {saved['version']}.",
        "artifact_id": saved["id"],
        "version": saved["version"],
    }


def run_of(identity: RunIdentity, call_id: str) -> writing.RunWrite:
    """The call as the writer knows it."""
    return writing.RunWrite(
        run_id=identity.run_id,
        fence=identity.fence,
        call_id=call_id,
        principal=f"agent:{identity.agent_id}",
    )


def _stale(conflict: Conflict, message: str) -> ToolResult:
    facts: dict[str, Any] = {"current_version": conflict.current}
    if conflict.details.get("tag"):
        facts["current_tag"] = conflict.details["tag"]
    if conflict.details.get("diff"):
        facts["changed_since"] = conflict.details["diff"]
    return failures.error(failures.classify(conflict), message, repair=TRY_AGAIN, **facts)

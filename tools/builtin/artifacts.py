"""create_artifact and update_artifact: what an agent keeps for the member."""

from collections.abc import Callable
from uuid import UUID

from artifacts import reading, writing
from artifacts.kinds.content import (
    CONTENT_CHARACTERS,
    LANGUAGE_CHARACTERS,
    TITLE_CHARACTERS,
    WRITABLE,
    BrokenContract,
)
from artifacts.models import ArtifactVersion
from audit.reasons import ErrorClass
from audit.refusals import Conflict, NotFound, Refusal
from tools.boundary import failures
from tools.boundary.contract import (
    Json,
    Presentation,
    RepairDirective,
    RunIdentity,
    Target,
    Tier,
    ToolContext,
    ToolDescriptor,
    ToolKind,
    ToolResult,
)
from tools.boundary.projection import as_payload
from tools.builtin.acting import member_of

Write = Callable[[RunIdentity, str, Json], ArtifactVersion]

TRY_AGAIN = RepairDirective(retryable=True, same_tool_required=True)
CONTENT = {
    "type": "string",
    "minLength": 1,
    "maxLength": int(CONTENT_CHARACTERS),
    "description": "The whole text. For kind graph a JSON text with schema_version 1, nodes, edges",
}
LANGUAGE = {
    "type": "string",
    "maxLength": int(LANGUAGE_CHARACTERS),
    "description": "Only for kind code, in lower case, for example: python, html, sql",
}


async def create(context: ToolContext, arguments: Json) -> ToolResult:
    """Keep a new artifact of the member."""
    return await _written(context, _create, arguments)


async def update(context: ToolContext, arguments: Json) -> ToolResult:
    """Append a version to an artifact the member may edit."""
    return await _written(context, _update, arguments)


def of_update(identity: RunIdentity, arguments: Json) -> Target:
    """The artifact an update would change, as it is now; raises `NotFound`."""
    root = reading.artifact(member_of(identity), _id(arguments))
    return Target(f"“{root.title}”, version {root.head}", f"{root.id}@{root.head}")


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


async def _written(context: ToolContext, write: Write, arguments: Json) -> ToolResult:
    try:
        version = await context.in_database(write, context.identity, context.call_id, arguments)
    except BrokenContract as broken:
        retry = {"expected_schema": broken.expected_schema}
        return failures.refused(broken, found=broken.found, repair=TRY_AGAIN, retry=retry)
    except Conflict as conflict:
        return failures.error(
            failures.classify(conflict),
            "The artifact has a newer version. Read it, then update that version.",
            repair=TRY_AGAIN,
            current_version=conflict.current,
        )
    except NotFound:
        return failures.error(ErrorClass.NOT_FOUND, "There is no artifact with this id.")
    except Refusal as refusal:
        return failures.refused(refusal)
    root = version.artifact
    return ToolResult(
        "success",
        {
            "artifact": {
                "id": str(root.id),
                "version": version.number,
                "digest": version.digest,
                "title": root.title,
                "kind": root.kind,
            },
            "message": "Saved. Tell the member its title; do not repeat the content.",
        },
        presentation=(
            Presentation(
                "artifact_saved",
                {
                    "artifact_id": str(root.id),
                    "version": version.number,
                    "title": root.title,
                    "kind": root.kind,
                },
            ),
        ),
    )


def _create(identity: RunIdentity, call_id: str, arguments: Json) -> ArtifactVersion:
    return writing.create(
        actor=member_of(identity),
        draft=writing.Draft(
            title=arguments["title"],
            kind=arguments["kind"],
            content=arguments["content"],
            language=arguments.get("language", "").lower(),
        ),
        conversation_id=identity.conversation_id,
        run=_run(identity, call_id),
    )


def _update(identity: RunIdentity, call_id: str, arguments: Json) -> ArtifactVersion:
    language = arguments.get("language")
    return writing.update(
        actor=member_of(identity),
        artifact_id=_id(arguments),
        content=arguments["content"],
        expected_version=int(arguments["expected_version"]),
        language=language.lower() if language else None,
        run=_run(identity, call_id),
    )


def _id(arguments: Json) -> UUID:
    try:
        return UUID(arguments["artifact_id"])
    except ValueError:
        raise NotFound() from None


def _run(identity: RunIdentity, call_id: str) -> writing.RunWrite:
    return writing.RunWrite(
        run_id=identity.run_id,
        fence=identity.fence,
        call_id=call_id,
        principal=f"agent:{identity.agent_id}",
    )


CREATE_ARTIFACT = ToolDescriptor(
    name="create_artifact",
    label="Saving an artifact",
    description=(
        "Save something the member will keep: a document, plan, table, code file or graph. Call it"
        " once with the whole content. Kinds: markdown for documents, code for source code (name"
        " the language; HTML and SVG are code), graph for nodes and edges as JSON, text for plain"
        " text. Returns the artifact's id and version. To change it later use update_artifact."
    ),
    parameters={
        "type": "object",
        "required": ["title", "kind", "content"],
        "additionalProperties": False,
        "properties": {
            "title": {
                "type": "string",
                "minLength": 1,
                "maxLength": int(TITLE_CHARACTERS),
                "description": "A short title a person would recognise",
            },
            "kind": {"type": "string", "enum": sorted(str(kind) for kind in WRITABLE)},
            "language": LANGUAGE,
            "content": CONTENT,
        },
    },
    kind=ToolKind.WRITE,
    tier=Tier.WRITE,
    family="artifacts",
    execute=create,
    project_for_model=as_payload,
    project_for_member=for_member,
    suppress_identical_repeat=True,
    intent_hints=("artifact", "save", "write a", "draft", "create a", "document", "report"),
)
UPDATE_ARTIFACT = ToolDescriptor(
    name="update_artifact",
    label="Updating an artifact",
    description=(
        "Write the next version of an artifact. Give its id, the newest version's number as"
        " expected_version, and the whole new content, not only the changed part. Read it with"
        " read_artifact first unless you have just written it. Earlier versions stay readable."
    ),
    parameters={
        "type": "object",
        "required": ["artifact_id", "expected_version", "content"],
        "additionalProperties": False,
        "properties": {
            "artifact_id": {
                "type": "string",
                "format": "uuid",
                "description": "The id that create_artifact or read_artifact returned",
            },
            "expected_version": {
                "type": "integer",
                "minimum": 1,
                "maximum": 1_000_000,
                "description": "The number of the version this change is based on",
            },
            "language": LANGUAGE,
            "content": CONTENT,
        },
    },
    kind=ToolKind.WRITE,
    tier=Tier.WRITE,
    family="artifacts",
    execute=update,
    target=of_update,
    project_for_model=as_payload,
    project_for_member=for_member,
    intent_hints=("artifact", "update", "change", "revise", "rewrite", "add to"),
)

"""create_artifact and update_artifact: what an agent keeps for the member."""

from artifacts import writing
from artifacts.kinds.content import CONTENT_CHARACTERS, TITLE_CHARACTERS, WRITABLE
from artifacts.models import ArtifactVersion
from tools.boundary.contract import (
    Json,
    RunIdentity,
    Tier,
    ToolContext,
    ToolDescriptor,
    ToolKind,
    ToolResult,
)
from tools.boundary.projection import as_payload
from tools.builtin.acting import member_of
from tools.builtin.artifact_answers import (
    LANGUAGE,
    for_member,
    run_of,
    written,
)
from tools.builtin.artifact_naming import ARTIFACT_ID, VERSION, id_of, target_of
from tools.builtin.artifact_watching import NEW_TEXT, NEXT_TEXT

CONTENT = {
    "type": "string",
    "minLength": 1,
    "maxLength": int(CONTENT_CHARACTERS),
    "description": "The whole text. For kind graph a JSON text with schema_version 1, nodes, edges",
}


async def create(context: ToolContext, arguments: Json) -> ToolResult:
    """Keep a new artifact of the member."""
    return await written(context, _create, arguments)


async def update(context: ToolContext, arguments: Json) -> ToolResult:
    """Append a version to an artifact the member may edit."""
    return await written(context, _update, arguments)


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
        run=run_of(identity, call_id),
    )


def _update(identity: RunIdentity, call_id: str, arguments: Json) -> ArtifactVersion:
    language = arguments.get("language")
    return writing.update(
        actor=member_of(identity),
        artifact_id=id_of(arguments["artifact_id"]),
        content=arguments["content"],
        expected_version=int(arguments["expected_version"]),
        language=language.lower() if language else None,
        run=run_of(identity, call_id),
    )


CREATE_ARTIFACT = ToolDescriptor(
    name="create_artifact",
    label="Saving an artifact",
    description=(
        "Save something the member will keep: a document, plan, table, code file or graph. Call it"
        " once with the whole content. Kinds: markdown for documents, code for source code (name"
        " the language; HTML and SVG are code), graph for nodes and edges as JSON, text for plain"
        " text. Returns the artifact's id, version and tag. To change a part of it later use"
        " edit_artifact, to rewrite all of it update_artifact."
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
    generated=NEW_TEXT,
    intent_hints=("artifact", "save", "write a", "draft", "create a", "document", "report"),
)
UPDATE_ARTIFACT = ToolDescriptor(
    name="update_artifact",
    label="Updating an artifact",
    description=(
        "Rewrite an artifact: its next version is exactly the content you give, so give all of it,"
        " not only the changed part. For a change of some lines use edit_artifact instead."
        " expected_version is the number of the newest version. Read the artifact with"
        " read_artifact first unless you have just written it. Earlier versions stay readable."
    ),
    parameters={
        "type": "object",
        "required": ["artifact_id", "expected_version", "content"],
        "additionalProperties": False,
        "properties": {
            "artifact_id": ARTIFACT_ID,
            "expected_version": {
                **VERSION,
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
    target=target_of,
    generated=NEXT_TEXT,
    project_for_model=as_payload,
    project_for_member=for_member,
    intent_hints=("artifact", "update", "change", "revise", "rewrite", "add to"),
)

"""read_artifact: numbered lines of one exact version. Apart from the tools that write."""

from uuid import UUID

from artifacts import reading
from artifacts.models import ArtifactVersion
from audit.reasons import ErrorClass
from audit.refusals import NotFound
from tools.boundary import failures
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


async def execute(context: ToolContext, arguments: Json) -> ToolResult:
    """One range; a missing artifact and somebody else's look alike."""
    try:
        version = await context.in_database(_version, context.identity, arguments)
    except NotFound:
        return failures.error(ErrorClass.NOT_FOUND, "There is no artifact or version like this.")
    lines = reading.lines(
        version,
        first=int(arguments.get("first_line", 1)),
        count=int(arguments.get("lines", reading.RANGE_LINES)),
    )
    root = version.artifact
    return ToolResult(
        "success",
        {
            "artifact": {
                "id": str(root.id),
                "version": version.number,
                "newest_version": root.head,
                "tag": lines.tag,
                "digest": version.digest,
                "title": root.title,
                "kind": root.kind,
                "language": version.language,
            },
            "first_line": lines.first,
            "last_line": lines.last,
            "total_lines": lines.total,
            "next_line": lines.next_line,
            "lines": lines.text,
        },
    )


def for_member(result: ToolResult) -> Json:
    """Which lines of what were read."""
    read = result.payload.get("artifact")
    if read is None:
        return {"message": "The artifact was not found."}
    first, last = result.payload["first_line"], result.payload["last_line"]
    return {
        "message": f"Read lines {first} to {last} of “{read['title']}”, version {read['version']}.",
        "artifact_id": read["id"],
        "version": read["version"],
    }


def _version(identity: RunIdentity, arguments: Json) -> ArtifactVersion:
    try:
        artifact_id = UUID(arguments["artifact_id"])
    except ValueError:
        raise NotFound() from None
    number = arguments.get("version")
    return reading.version(
        member_of(identity), artifact_id, None if number is None else int(number)
    )


READ_ARTIFACT = ToolDescriptor(
    name="read_artifact",
    label="Reading an artifact",
    description=(
        "Read an artifact the member may see, as numbered lines (number: text; the number is not"
        " part of the content). At most 400 lines come at once; next_line says where to read on."
        " Without a version it reads the newest. Read before you update."
    ),
    parameters={
        "type": "object",
        "required": ["artifact_id"],
        "additionalProperties": False,
        "properties": {
            "artifact_id": {"type": "string", "format": "uuid", "description": "The artifact's id"},
            "version": {
                "type": "integer",
                "minimum": 1,
                "maximum": 1_000_000,
                "description": "An older version; leave out for the newest",
            },
            "first_line": {
                "type": "integer",
                "minimum": 1,
                "maximum": 1_000_000,
                "description": "The first line to read, 1 if left out",
            },
            "lines": {
                "type": "integer",
                "minimum": 1,
                "maximum": int(reading.RANGE_LINES),
                "description": "How many lines, 400 if left out",
            },
        },
    },
    kind=ToolKind.READ,
    tier=Tier.READ,
    family="artifacts",
    execute=execute,
    project_for_model=as_payload,
    project_for_member=for_member,
    timeout_s=15,
    whole_result=True,
    intent_hints=("artifact", "read", "what does it say", "show me the document"),
)

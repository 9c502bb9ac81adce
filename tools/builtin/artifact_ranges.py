"""read_artifact: numbered lines of one exact version. Apart from the tools that write."""

from artifacts import reading
from artifacts.models import ArtifactVersion
from artifacts.reading import LineRange
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
from tools.builtin.artifact_naming import ARTIFACT_ID, VERSION, id_of


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
            **_remarks(lines),
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


def _remarks(lines: LineRange) -> Json:
    """What is unusual about how lines end; most texts need no word about it."""
    remarks = []
    if lines.ends != "lf":
        remarks.append(f"Line ends are {lines.ends}; edit_artifact keeps them by itself.")
    if not lines.closed:
        remarks.append("The last line has no line end.")
    if lines.returns:
        remarks.append("␍ inside a line is a carriage return; write it as \\r.")
    return {"remark": " ".join(remarks)} if remarks else {}


def _version(identity: RunIdentity, arguments: Json) -> ArtifactVersion:
    number = arguments.get("version")
    return reading.version(
        member_of(identity),
        id_of(arguments["artifact_id"]),
        None if number is None else int(number),
    )


READ_ARTIFACT = ToolDescriptor(
    name="read_artifact",
    label="Reading an artifact",
    description=(
        "Read an artifact the member may see, as numbered lines. A line is shown as `12: text`; the"
        " number and colon are not part of the content. At most 400 lines come at once; next_line"
        " says where to read on. Without a version it reads the newest. Returns the version and"
        " tag that edit_artifact needs. Read before you edit or update."
    ),
    parameters={
        "type": "object",
        "required": ["artifact_id"],
        "additionalProperties": False,
        "properties": {
            "artifact_id": ARTIFACT_ID,
            "version": {
                **VERSION,
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

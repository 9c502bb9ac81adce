"""edit_artifact: some lines of an exact version replaced, added or taken out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from artifacts import writing
from artifacts.editing import HUNK_LINES, HUNKS, Hunk
from artifacts.kinds.content import CONTENT_CHARACTERS
from artifacts.models import TAG_CHARACTERS, ArtifactVersion
from audit.reasons import Reason
from audit.refusals import Invalid
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
    for_member,
    run_of,
    written,
)
from tools.builtin.artifact_naming import ARTIFACT_ID, VERSION, id_of, target_of

# Old numbers with the new tag would change the wrong lines.
SHIFTED: Final = "Line numbers have shifted: read the artifact again before another edit."
LINE: Final[Json] = {"type": "integer", "minimum": 1, "maximum": 1_000_000}


async def execute(context: ToolContext, arguments: Json) -> ToolResult:
    """Carry out all hunks or none of them."""
    result = await written(context, _edit, arguments)
    if result.outcome != "success" or not any(map(_moves_lines, arguments["hunks"])):
        return result
    message = f"{SHIFTED} {result.payload['message']}"
    return replace(result, payload={**result.payload, "message": message})


def _edit(identity: RunIdentity, call_id: str, arguments: Json) -> ArtifactVersion:
    hunks = [
        Hunk(
            op=given["op"],
            first=_whole(given.get("first")),
            last=_whole(given.get("last")),
            after=_whole(given.get("after")),
            lines=tuple(given.get("lines", ())),
        )
        for given in arguments["hunks"]
    ]
    _refuse_numbers(hunks)
    return writing.edit(
        actor=member_of(identity),
        artifact_id=id_of(arguments["artifact_id"]),
        base_version=int(arguments["base_version"]),
        tag=arguments["tag"],
        hunks=hunks,
        run=run_of(identity, call_id),
    )


def _moves_lines(given: Json) -> bool:
    """Whether lines behind a hunk have other numbers afterwards."""
    replaced = 0 if "after" in given else given["last"] - given["first"] + 1
    return len(given.get("lines", ())) != replaced


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def _refuse_numbers(hunks: Sequence[Hunk]) -> None:
    """Raise `Invalid` for lines that were copied with the numbers they are shown with."""
    for position, hunk in enumerate(hunks):
        start = hunk.first if hunk.after is None else hunk.after + 1
        if start is None or len(hunk.lines) == 0:
            continue
        if all(line.startswith(f"{start + index}: ") for index, line in enumerate(hunk.lines)):
            raise Invalid(
                [{"field": f"hunks.{position}.lines", "reason": str(Reason.INVALID_FIELD)}],
                "Leave out the line numbers that read_artifact shows; they are not content.",
            )


EDIT_ARTIFACT = ToolDescriptor(
    name="edit_artifact",
    label="Editing an artifact",
    description=(
        "Change some lines of an artifact and keep all others exactly. First read the lines with"
        " read_artifact; take base_version and tag from its answer, and line numbers as it shows"
        " them. All hunks count lines of that base version, so earlier hunks do not shift later"
        ' ones. Replace lines 3 to 4: {"op": "PUT", "first": 3, "last": 4, "lines": ["new 3",'
        ' "new 4"]}. Add behind line 7 (0 adds at the beginning): {"op": "PUT", "after": 7,'
        ' "lines": ["new"]}. Take lines 9 to 10 out: {"op": "CUT", "first": 9, "last": 10}. Hunks'
        " must not overlap; when one is wrong, nothing is changed. If there is a newer version"
        " you get what changed: read again. Returns the new version and tag."
    ),
    parameters={
        "type": "object",
        "required": ["artifact_id", "base_version", "tag", "hunks"],
        "additionalProperties": False,
        "properties": {
            "artifact_id": ARTIFACT_ID,
            "base_version": {
                **VERSION,
                "description": "The version whose lines you name; it must be the newest",
            },
            "tag": {
                "type": "string",
                "minLength": 1,
                "maxLength": TAG_CHARACTERS,
                "description": "The tag of that version, as you were given it",
            },
            "hunks": {
                "type": "array",
                "minItems": 1,
                "maxItems": int(HUNKS),
                "items": {
                    "type": "object",
                    "required": ["op"],
                    "additionalProperties": False,
                    "properties": {
                        "op": {
                            "type": "string",
                            "enum": ["PUT", "CUT"],
                            "description": "PUT writes lines, CUT takes lines out",
                        },
                        "first": {**LINE, "description": "The first line to replace or take out"},
                        "last": {
                            **LINE,
                            "description": "The last one, itself included; first for one line",
                        },
                        "after": {
                            **LINE,
                            "minimum": 0,
                            "description": "Instead of first and last: add behind this line",
                        },
                        "lines": {
                            "type": "array",
                            "maxItems": int(HUNK_LINES),
                            "items": {"type": "string", "maxLength": int(CONTENT_CHARACTERS)},
                            "description": (
                                "For PUT: the new lines, one entry each, without numbers and"
                                " line ends"
                            ),
                        },
                    },
                },
            },
        },
    },
    kind=ToolKind.WRITE,
    tier=Tier.WRITE,
    family="artifacts",
    execute=execute,
    target=target_of,
    project_for_model=as_payload,
    project_for_member=for_member,
    intent_hints=("artifact", "edit", "change", "correct", "fix", "replace", "remove", "insert"),
)

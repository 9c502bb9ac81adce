"""begin_, append_, finalize_ and discard_artifact: a long artifact written part by part."""

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Final

from artifacts import staging
from artifacts.kinds.content import CONTENT_CHARACTERS, TITLE_CHARACTERS, WRITABLE
from artifacts.models import TAG_CHARACTERS, ArtifactVersion
from artifacts.staging import PART_CHARACTERS, PARTS
from audit.reasons import ErrorClass
from audit.refusals import NotFound, Refusal
from tools.boundary import failures
from tools.boundary.contract import (
    Json,
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
from tools.builtin.artifact_answers import LANGUAGE, for_member, refused, run_of, written
from tools.builtin.artifact_naming import id_of
from tools.builtin.artifact_watching import PART

BEGIN_AGAIN: Final = RepairDirective(retryable=False)
Step = Callable[[RunIdentity, str, Json], Json]

FAMILY: Final = "artifacts_staged"
# Somebody asks for a new artifact in so many words; not for a change of one that is there.
NEW_ARTIFACT: Final = re.compile(
    r"\b(?:create|make|write|draft|save|start|prepare|produce|generate|build)\s+(?:me\s+|us\s+)?"
    r"(?:a|an|another|one|new)\b"
    r"(?:(?!\b(?:the|this|that|my|your|our|existing|to|in|of)\b)[^.?!\n]){0,60}?\bartifact\b"
)
DRAFT_ID: Final[Json] = {
    "type": "string",
    "format": "uuid",
    "description": "The draft_id that begin_artifact returned",
}


async def begin(context: ToolContext, arguments: Json) -> ToolResult:
    """Begin an artifact; nothing is kept for the member yet."""
    return await _stepped(context, _begin, arguments)


async def append(context: ToolContext, arguments: Json) -> ToolResult:
    """Keep one part and give its receipt."""
    return await _stepped(context, _append, arguments)


async def finalize(context: ToolContext, arguments: Json) -> ToolResult:
    """Make the artifact out of its parts."""
    result = await written(context, _finalize, arguments)
    if "retry" not in result.payload:
        return result
    # What is wrong stands in the parts, so the same call can only fail again.
    advice = {"next": "Discard it with discard_artifact, then begin again."}
    return replace(result, payload={**result.payload, **advice}, repair=BEGIN_AGAIN)


async def discard(context: ToolContext, arguments: Json) -> ToolResult:
    """Give the parts up."""
    return await _stepped(context, _discard, arguments)


def of_draft(identity: RunIdentity, arguments: Json) -> Target:
    """What this run has written of it until now; raises `NotFound`."""
    staged = staging.of_run(member_of(identity), identity.run_id, id_of(arguments["draft_id"]))
    text = f"“{staged.title}”, {staged.parts} parts, not finished"
    return Target(text, f"{staged.id}@{staged.parts}:{staged.receipt}:{staged.state}")


def for_people(result: ToolResult) -> Json:
    """Progress in words; a part is nothing that could be opened."""
    return {"message": str(result.payload.get("told", "Nothing was written."))}


def without_words(result: ToolResult) -> Json:
    """The payload without what is for people."""
    view = as_payload(result)
    view.pop("told", None)
    return view


async def _stepped(context: ToolContext, step: Step, arguments: Json) -> ToolResult:
    try:
        done = await context.in_database(step, context.identity, context.call_id, arguments)
    except NotFound:
        return failures.error(
            ErrorClass.NOT_FOUND, "This turn has begun no artifact with this draft_id."
        )
    except Refusal as refusal:
        return refused(refusal)
    return ToolResult("success", done)


def _begin(identity: RunIdentity, call_id: str, arguments: Json) -> Json:
    staged = staging.begin(
        actor=member_of(identity),
        title=arguments["title"],
        kind=arguments["kind"],
        language=arguments.get("language", "").lower(),
        conversation_id=identity.conversation_id,
        run=run_of(identity, call_id),
    )
    return {
        "draft_id": str(staged.id),
        "next_ordinal": staged.parts + 1,
        "characters_left": int(CONTENT_CHARACTERS) - staged.characters,
        "message": "Begun. Now call append_artifact with ordinal 1 and the first part.",
        "told": f"Began “{staged.title}”.",
    }


def _append(identity: RunIdentity, call_id: str, arguments: Json) -> Json:
    receipt = staging.append(
        actor=member_of(identity),
        staged_id=id_of(arguments["draft_id"]),
        ordinal=int(arguments["ordinal"]),
        content=arguments["content"],
        run=run_of(identity, call_id),
    )
    given = asdict(receipt)
    title = given.pop("title")
    return {
        **given,
        "next_ordinal": receipt.ordinal + 1,
        "characters_left": int(CONTENT_CHARACTERS) - receipt.characters,
        "message": "Kept. Append the next part, or call finalize_artifact with parts and receipt.",
        "told": f"Wrote part {receipt.ordinal} of “{title}”.",
    }


def _finalize(identity: RunIdentity, call_id: str, arguments: Json) -> ArtifactVersion:
    return staging.finalize(
        actor=member_of(identity),
        staged_id=id_of(arguments["draft_id"]),
        parts=int(arguments["parts"]),
        receipt=arguments["receipt"],
        run=run_of(identity, call_id),
    )


def _discard(identity: RunIdentity, call_id: str, arguments: Json) -> Json:
    staged = staging.discard(
        actor=member_of(identity),
        staged_id=id_of(arguments["draft_id"]),
        run=run_of(identity, call_id),
    )
    return {
        "discarded": True,
        "message": "Discarded. Nothing of it was saved.",
        "told": f"Discarded “{staged.title}”.",
    }


BEGIN_ARTIFACT = ToolDescriptor(
    name="begin_artifact",
    label="Beginning an artifact",
    description=(
        "Begin a new artifact that you write part by part; best for long documents and code. The"
        " order is: begin_artifact once, append_artifact for each part with ordinal 1, 2, 3 and so"
        " on, then finalize_artifact. Only finalize_artifact saves anything. For something short"
        " use create_artifact. Returns the draft_id for the other calls."
    ),
    parameters={
        "type": "object",
        "required": ["title", "kind"],
        "additionalProperties": False,
        "properties": {
            "title": {
                "type": "string",
                "minLength": 1,
                "maxLength": int(TITLE_CHARACTERS),
                "description": "A short title a person would recognise",
            },
            "kind": {
                "type": "string",
                "enum": sorted(str(kind) for kind in WRITABLE),
                "description": "markdown for documents, code for source code, graph for JSON of"
                " nodes and edges, text for plain text",
            },
            "language": LANGUAGE,
        },
    },
    kind=ToolKind.WRITE,
    tier=Tier.WRITE,
    family=FAMILY,
    execute=begin,
    project_for_model=without_words,
    project_for_member=for_people,
    exact_intent=NEW_ARTIFACT,
    intent_hints=("long document", "long report", "whole file"),
)
APPEND_ARTIFACT = ToolDescriptor(
    name="append_artifact",
    label="Writing a part of an artifact",
    description=(
        "Write the next part of an artifact begun with begin_artifact. The first part has ordinal"
        " 1, each further one the next_ordinal of the last answer. Parts are joined exactly as"
        " they are, so end a part with a line break where one belongs. Aim at 2,000 to 6,000"
        " characters a part; 20,000 are the most. Returns the receipt that finalize_artifact needs."
    ),
    parameters={
        "type": "object",
        "required": ["draft_id", "ordinal", "content"],
        "additionalProperties": False,
        "properties": {
            "draft_id": DRAFT_ID,
            "ordinal": {
                "type": "integer",
                "minimum": 1,
                "maximum": int(PARTS),
                "description": "Which part this is: 1 for the first",
            },
            "content": {
                "type": "string",
                "minLength": 1,
                "maxLength": int(PART_CHARACTERS),
                "description": "The text of this part alone",
            },
        },
    },
    kind=ToolKind.WRITE,
    tier=Tier.WRITE,
    family=FAMILY,
    execute=append,
    target=of_draft,
    generated=PART,
    project_for_model=without_words,
    project_for_member=for_people,
    exact_intent=NEW_ARTIFACT,
)
FINALIZE_ARTIFACT = ToolDescriptor(
    name="finalize_artifact",
    label="Saving an artifact",
    description=(
        "Save an artifact whose parts are all appended. Give the number of parts and the receipt"
        " of the last one. Call it once, when nothing is missing. Returns the artifact's id,"
        " version and tag, like create_artifact."
    ),
    parameters={
        "type": "object",
        "required": ["draft_id", "parts", "receipt"],
        "additionalProperties": False,
        "properties": {
            "draft_id": DRAFT_ID,
            "parts": {
                "type": "integer",
                "minimum": 1,
                "maximum": int(PARTS),
                "description": "How many parts were appended",
            },
            "receipt": {
                "type": "string",
                "minLength": 1,
                "maxLength": TAG_CHARACTERS,
                "description": "The receipt that the last append_artifact returned",
            },
        },
    },
    kind=ToolKind.WRITE,
    tier=Tier.WRITE,
    family=FAMILY,
    execute=finalize,
    target=of_draft,
    project_for_model=as_payload,
    project_for_member=for_member,
    exact_intent=NEW_ARTIFACT,
)
DISCARD_ARTIFACT = ToolDescriptor(
    name="discard_artifact",
    label="Discarding an unfinished artifact",
    description=(
        "Give up an artifact begun with begin_artifact, with all its parts, when it is not wanted"
        " or its parts are wrong. It cannot take away an artifact that is saved."
    ),
    parameters={
        "type": "object",
        "required": ["draft_id"],
        "additionalProperties": False,
        "properties": {"draft_id": DRAFT_ID},
    },
    kind=ToolKind.WRITE,
    tier=Tier.WRITE,
    family=FAMILY,
    execute=discard,
    target=of_draft,
    project_for_model=without_words,
    project_for_member=for_people,
    exact_intent=NEW_ARTIFACT,
)

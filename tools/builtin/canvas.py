"""show_chat_canvas: one Markdown page inside the conversation, shown and not kept."""

from tools.boundary.contract import (
    Canvas,
    Json,
    Tier,
    ToolContext,
    ToolDescriptor,
    ToolKind,
    ToolResult,
)
from tools.boundary.projection import CANVAS_CHARACTERS, CANVAS_TITLE, as_payload


async def execute(context: ToolContext, arguments: Json) -> ToolResult:
    """Hand the page to the conversation; the model hears only that it is shown."""
    return ToolResult(
        "success",
        {
            "shown": True,
            "characters": len(arguments["markdown"]),
            "message": "The canvas is shown. Do not repeat its content in the answer.",
        },
        chat_canvas_outputs=(Canvas(arguments.get("title", ""), arguments["markdown"]),),
    )


def for_member(result: ToolResult) -> Json:
    """The canvas itself is a frame of its own."""
    return {"message": "Shown as a canvas."}


SHOW_CHAT_CANVAS = ToolDescriptor(
    name="show_chat_canvas",
    label="Showing a canvas",
    description=(
        "Show one Markdown page inside the conversation. Use it only when the member asks for a"
        " canvas or for something to be shown inline. It is not saved: use create_artifact for"
        " something to keep. Call it once, with the whole page."
    ),
    parameters={
        "type": "object",
        "required": ["markdown"],
        "additionalProperties": False,
        "properties": {
            "title": {
                "type": "string",
                "maxLength": int(CANVAS_TITLE),
                "description": "A short title",
            },
            "markdown": {
                "type": "string",
                "minLength": 1,
                "maxLength": int(CANVAS_CHARACTERS),
                "description": "The whole page as Markdown",
            },
        },
    },
    kind=ToolKind.READ,
    tier=Tier.READ,
    family="baseline",
    execute=execute,
    project_for_model=as_payload,
    project_for_member=for_member,
    timeout_s=10,
    presentation_only=True,
    intent_hints=("canvas",),
)

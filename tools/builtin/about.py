"""search_about: what Kaizen's own pages say."""

from tools.boundary.contract import Json, Tier, ToolContext, ToolDescriptor, ToolKind, ToolResult
from tools.boundary.projection import as_payload
from tools.builtin import about_index


async def execute(context: ToolContext, arguments: Json) -> ToolResult:
    """The best excerpts; none is an answer too."""
    found = about_index.find(arguments["question"])
    if not found:
        message = "Kaizen's pages say nothing about this. Say that you do not know."
        return ToolResult("success", {"excerpts": [], "message": message})
    excerpts = [
        {
            "source": section.id,
            "page": section.title,
            "heading": section.heading,
            "text": section.text,
        }
        for section in found
    ]
    return ToolResult(
        "success",
        {"excerpts": excerpts},
        sources=tuple(
            {
                "id": section.id,
                "kind": "about",
                "title": f"{section.title}: {section.heading}",
                "excerpt": section.text,
            }
            for section in found
        ),
    )


def for_member(result: ToolResult) -> Json:
    """Which pages were found."""
    excerpts = result.payload.get("excerpts", [])
    pages = list(dict.fromkeys(excerpt["page"] for excerpt in excerpts))
    if not pages:
        return {"message": "Nothing in the guide matches."}
    return {"message": f"Read in the guide: {', '.join(pages)}."}


SEARCH_ABOUT = ToolDescriptor(
    name="search_about",
    label="Searching the guide",
    description=(
        "Search Kaizen's own help pages. Use it for every question about Kaizen itself: what it"
        " can do, agents, artifacts, models, keyboard shortcuts, privacy, roles, API tokens."
        " Returns up to 5 excerpts. Answer from the excerpts only. Do not use it for other topics."
    ),
    parameters={
        "type": "object",
        "required": ["question"],
        "additionalProperties": False,
        "properties": {
            "question": {
                "type": "string",
                "minLength": 2,
                "maxLength": 300,
                "description": "The question in a few plain words, for example: connect a model",
            }
        },
    },
    kind=ToolKind.READ,
    tier=Tier.READ,
    family="baseline",
    execute=execute,
    project_for_model=as_payload,
    project_for_member=for_member,
    timeout_s=10,
    intent_hints=("kaizen", "shortcut", "api token", "how do i", "what can you do"),
)

"""tool_search: finds tools of the run's catalogue that the model is not shown at once."""

from audit.limits import limit
from tools.boundary.contract import (
    Findable,
    Json,
    Tier,
    ToolContext,
    ToolDescriptor,
    ToolKind,
    ToolResult,
)
from tools.boundary.projection import as_payload
from tools.builtin.about_index import stems

MATCHES = limit("discovery.matches", 8, "count", "Tools one search for tools returns.")
QUERY = limit("discovery.query", 200, "characters", "Length of one search for tools.")
DESCRIPTION = limit(
    "discovery.description", 300, "characters", "Length of a found tool's description."
)
NAME_WEIGHT = 3  # a word of a name says more than one of a description


async def execute(context: ToolContext, arguments: Json) -> ToolResult:
    """The best matches; none is an answer too."""
    found = matching(context.catalogue, arguments["query"])
    if not found:
        message = "No tool matches. Do without one, or say that it cannot be done here."
        return ToolResult("success", {"tools": [], "message": message})
    tools = [{"name": tool.name, "description": tool.description[:DESCRIPTION]} for tool in found]
    return ToolResult(
        "success",
        {"tools": tools, "message": "These tools can be called from your next message on."},
        discovered=tuple(tool.name for tool in found),
    )


def matching(catalogue: tuple[Findable, ...], query: str) -> list[Findable]:
    """At most eight tools that share words with the query, best first."""
    words = set(stems(query.replace("_", " ")))
    scored = [(_score(tool, words), tool) for tool in catalogue]
    hits = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])
    return [tool for _, tool in hits[:MATCHES]]


def for_member(result: ToolResult) -> Json:
    """How many tools were found."""
    count = len(result.payload.get("tools", []))
    if not count:
        return {"message": "Found no tool for this."}
    return {"message": f"Found {count} tool{'' if count == 1 else 's'}."}


def _score(tool: Findable, words: set[str]) -> int:
    named = set(stems(f"{tool.name} {tool.label}".replace("_", " ")))
    described = set(stems(" ".join((tool.description, *tool.intent_hints))))
    return NAME_WEIGHT * len(words & named) + len(words & described)


TOOL_SEARCH = ToolDescriptor(
    name="tool_search",
    label="Looking for a tool",
    description=(
        "Find a tool that is not shown to you. Use it when none of your tools fits what the member"
        " asked. Say what has to be done in a few words. Returns up to 8 tools, which you can call"
        " from your next message on. It finds tools, never facts."
    ),
    parameters={
        "type": "object",
        "required": ["query"],
        "additionalProperties": False,
        "properties": {
            "query": {
                "type": "string",
                "minLength": 2,
                "maxLength": int(QUERY),
                "description": "What has to be done, for example: rename a folder",
            }
        },
    },
    kind=ToolKind.READ,
    tier=Tier.READ,
    family="discovery",
    execute=execute,
    project_for_model=as_payload,
    project_for_member=for_member,
    timeout_s=10,
    discovery=True,
)

"""conversation_history_search: what the member may read of earlier conversations now."""

from agents.conversations import search
from audit.limits import limit
from audit.refusals import Refusal
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

MAX_FOUND = limit(
    "history.found", 10, "count", "Places of earlier conversations one search by an agent returns."
)
WHO = {"question": "member", "answer": "agent", "title": "title"}


async def execute(context: ToolContext, arguments: Json) -> ToolResult:
    """Search off the event loop; what nobody said is an answer too."""
    try:
        hits = await context.in_database(_found, context.identity, arguments["query"])
    except Refusal as refusal:
        return failures.refused(refusal)
    if not hits:
        return ToolResult("success", {"found": [], "message": "Nothing was found."})
    found = [
        {
            "conversation": hit.title or "Untitled",
            "said_by": WHO[hit.kind],
            "at": hit.at.isoformat(timespec="seconds"),
            "excerpt": hit.text,
            "source": f"conversation:{hit.conversation_id}#{hit.position or 0}",
        }
        for hit in hits
    ]
    sources = tuple(
        {
            "id": f"conversation:{hit.conversation_id}#{hit.position or 0}",
            "kind": "conversation",
            "title": hit.title or "Untitled",
            "excerpt": hit.text,
            "conversation_id": str(hit.conversation_id),
            "position": hit.position or 0,
        }
        for hit in hits
    )
    return ToolResult("success", {"found": found}, sources=sources)


def for_member(result: ToolResult) -> Json:
    """How many places were found."""
    count = len(result.payload.get("found", []))
    if not count:
        return {"message": "Found nothing in your conversations."}
    return {"message": f"Found {count} place{'s' if count > 1 else ''} in your conversations."}


def _found(identity: RunIdentity, query: str) -> list[search.Hit]:
    return search.search(
        member=member_of(identity),
        text=query,
        limit=MAX_FOUND,
        leaving_out_run=identity.run_id,
    )


CONVERSATION_HISTORY_SEARCH = ToolDescriptor(
    name="conversation_history_search",
    label="Searching your conversations",
    description=(
        "Search what the member and their agents said in earlier conversations. Use it when the"
        " member refers to something from before that is not in this conversation. Give the few"
        " words that were probably said, not a whole question. Returns up to 10 excerpts."
    ),
    parameters={
        "type": "object",
        "required": ["query"],
        "additionalProperties": False,
        "properties": {
            "query": {
                "type": "string",
                "minLength": 2,
                "maxLength": 200,
                "description": "One to five words to look for, for example: database migration",
            }
        },
    },
    kind=ToolKind.READ,
    tier=Tier.READ,
    family="baseline",
    execute=execute,
    project_for_model=as_payload,
    project_for_member=for_member,
    timeout_s=15,
    intent_hints=(
        "last time",
        "earlier",
        "before",
        "previous",
        "yesterday",
        "last week",
        "we discussed",
        "did i",
        "did we",
    ),
)

"""list_available_agents: whom the member may ask."""

from typing import Final

from agents.definitions.models import Agent
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

MAX_AGENTS = limit("roster.agents", 60, "count", "Agents one roster names.")
DESCRIPTION_SHOWN = limit(
    "roster.description", 300, "characters", "Length of an agent's description in a roster."
)
MAX_COUNTED = limit("roster.counted", 500, "count", "Agents one roster counts at most.")
ORDER: Final = ("-protected", "name", "id")


async def execute(context: ToolContext, arguments: Json) -> ToolResult:
    """Names, descriptions and modes; nothing of how an agent is made."""
    try:
        agents, more = await context.in_database(_roster, context.identity)
    except Refusal as refusal:
        return failures.refused(refusal)
    return ToolResult("success", {"agents": agents, "more": more})


def for_member(result: ToolResult) -> Json:
    """How many agents there are, as far as they are counted."""
    count = len(result.payload.get("agents", [])) + result.payload.get("more", 0)
    least = "at least " if count >= MAX_COUNTED else ""
    return {"message": f"You can use {least}{count} agent{'' if count == 1 else 's'}."}


def _roster(identity: RunIdentity) -> tuple[list[Json], int]:
    member = member_of(identity)
    usable = Agent.objects.usable_by(member)
    shown = usable.nearest(member, MAX_AGENTS, *ORDER).order_by(*ORDER)[:MAX_AGENTS]
    agents = [
        {
            "name": agent.name,
            "description": agent.description[:DESCRIPTION_SHOWN],
            "mode": agent.mode,
            "this_is_you": agent.id == identity.agent_id,
        }
        for agent in shown
    ]
    if len(agents) < MAX_AGENTS:
        return agents, 0
    counted = usable.nearest(member, MAX_COUNTED, *ORDER)[:MAX_COUNTED].count()
    return agents, counted - MAX_AGENTS


LIST_AVAILABLE_AGENTS = ToolDescriptor(
    name="list_available_agents",
    label="Looking up agents",
    description=(
        "List the agents the member may use, with name, description and mode. Use it when the"
        " member asks which agents there are or who could help. It takes no arguments."
    ),
    parameters={"type": "object", "additionalProperties": False, "properties": {}},
    kind=ToolKind.READ,
    tier=Tier.READ,
    family="baseline",
    execute=execute,
    project_for_model=as_payload,
    project_for_member=for_member,
    timeout_s=10,
    intent_hints=("which agent", "what agents", "available agents", "other agents", "agents can"),
)

"""What is set for a run: frozen at admission, told by the prompt, obeyed by host and boundary."""

from collections.abc import Mapping
from typing import Any

from agents.conversations.inputs import Claimed
from agents.definitions.models import AgentVersion
from agents.engine import bounds
from agents.prompts.settings_projection import Settings
from tools.boundary.contract import ToolDescriptor


def chosen(row: Claimed) -> dict[str, bool | str]:
    """What the member has chosen about agents, as a run's snapshot keeps it."""
    return {
        "plain_speak": row.plain_speak,
        "compress_tool_results": row.compress_tool_results,
        "effort": row.effort,
    }


def effort(kept: Mapping[str, Any], version: AgentVersion) -> str | None:
    """How long the model shall think: what the member chose, else what the agent asks for."""
    chosen: str | None = kept.get("effort") or version.content.get("posture", {}).get("effort")
    return chosen


def settings(
    kept: Mapping[str, Any],
    version: AgentVersion,
    model: str,
    offered: Mapping[str, ToolDescriptor],
) -> Settings:
    """The run's settings. `kept` is what its snapshot says was chosen when it was admitted, so
    that a change meanwhile waits for the next run.
    """
    return Settings(
        plain_speak=bool(kept.get("plain_speak")),
        compress_tool_results=bool(kept.get("compress_tool_results")),
        agent_name=version.content["name"],
        agent_version=version.number,
        model=model,
        ceiling=version.content["capability_ceiling"],
        tools=tuple(descriptor.label for descriptor in offered.values()),
        max_steps=bounds.MAX_MODEL_STEPS,
        max_rounds=bounds.MAX_TOOL_ROUNDS,
        wall_seconds=bounds.WALL_SECONDS,
    )

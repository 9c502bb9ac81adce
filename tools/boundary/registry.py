"""The closed map from a tool's name to its descriptor.

The literal below is the only way in: there is no call that registers a tool while the process
runs. A path is resolved at first use, so a tool may import what lies above the boundary. Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Final

from audit.limits import limit
from tools import AGENT_LOOP_TOOL_NAMES
from tools.boundary import schemas
from tools.boundary.contract import Tier, ToolDescriptor, ToolKind

MAX_TIMEOUT_S = limit("tool.timeout", 600, "seconds", "Longest time one tool call may take.")


class UnregisteredTool(LookupError):
    """A name outside the closed set was asked for."""


class UnfitTool(TypeError):
    """A descriptor breaks the contract every tool keeps; the process must not offer it."""


@dataclass(frozen=True)
class Entry:
    """Where a descriptor lives, and the feature flag without which it does not exist."""

    path: str
    flag: str = ""


ENTRIES: Final[Mapping[str, Entry]] = MappingProxyType(
    {
        "search_about": Entry("tools.builtin.about.SEARCH_ABOUT"),
        "show_chat_canvas": Entry("tools.builtin.canvas.SHOW_CHAT_CANVAS"),
        "conversation_history_search": Entry("tools.builtin.history.CONVERSATION_HISTORY_SEARCH"),
        "list_available_agents": Entry("tools.builtin.agents.LIST_AVAILABLE_AGENTS"),
        "create_artifact": Entry("tools.builtin.artifacts.CREATE_ARTIFACT"),
        "update_artifact": Entry("tools.builtin.artifacts.UPDATE_ARTIFACT"),
        "edit_artifact": Entry("tools.builtin.artifact_edits.EDIT_ARTIFACT"),
        "begin_artifact": Entry("tools.builtin.artifact_staging.BEGIN_ARTIFACT"),
        "append_artifact": Entry("tools.builtin.artifact_staging.APPEND_ARTIFACT"),
        "finalize_artifact": Entry("tools.builtin.artifact_staging.FINALIZE_ARTIFACT"),
        "discard_artifact": Entry("tools.builtin.artifact_staging.DISCARD_ARTIFACT"),
        "read_artifact": Entry("tools.builtin.artifact_ranges.READ_ARTIFACT"),
        "tool_search": Entry("tools.builtin.discovery.TOOL_SEARCH"),
    }
)


def resolve(name: str, entries: Mapping[str, Entry] = ENTRIES) -> ToolDescriptor:
    """The descriptor of a registered name.

    Raises `UnregisteredTool` for any other name, `UnfitTool` when the descriptor breaks the
    contract.
    """
    entry = entries.get(name)
    if entry is None or name not in AGENT_LOOP_TOOL_NAMES:
        raise UnregisteredTool(f"{name!r:.80} is not a registered tool")
    descriptor = _load(entry.path)
    if descriptor.name != name:
        raise UnfitTool(f"{entry.path} describes {descriptor.name}, not {name}")
    return descriptor


def check(descriptor: ToolDescriptor) -> None:
    """Raise `UnfitTool` unless the descriptor keeps the contract."""
    problem = _problem(descriptor)
    if problem:
        raise UnfitTool(f"tool {descriptor.name}: {problem}")


@cache
def _load(path: str) -> ToolDescriptor:
    module, _, attribute = path.rpartition(".")
    descriptor = getattr(import_module(module), attribute)
    if not isinstance(descriptor, ToolDescriptor):
        raise UnfitTool(f"{path} is not a tool descriptor")
    check(descriptor)
    return descriptor


def _problem(descriptor: ToolDescriptor) -> str:
    if not (callable(descriptor.project_for_model) and callable(descriptor.project_for_member)):
        return "needs a projection for the model and one for the member"
    if not (descriptor.label.strip() and descriptor.description.strip() and descriptor.family):
        return "needs a label, a description and a family"
    if (descriptor.kind is ToolKind.READ) != (descriptor.tier is Tier.READ):
        return "a reading tool has the read tier, a writing tool a higher one"
    if descriptor.timeout_s is not None and not 0 < descriptor.timeout_s <= MAX_TIMEOUT_S:
        return f"the timeout must be over 0 and at most {MAX_TIMEOUT_S} seconds"
    return schemas.problem(descriptor.parameters)

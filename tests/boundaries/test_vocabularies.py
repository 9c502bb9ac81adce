"""Closed vocabularies have exactly the members they were agreed to have."""

from collections.abc import Collection

import pytest

from agents.conversations.models import InputStatus
from agents.definitions.models import Audience, Mode
from agents.engine.effects import Terminal
from agents.gateway.models import ToolCallMode
from agents.journal.frames import Kind
from agents.members.models import TokenScope
from audit.reasons import ErrorClass, Outcome
from tools import AGENT_LOOP_TOOL_NAMES
from tools.boundary.contract import Tier, ToolKind
from tools.boundary.registry import ENTRIES

TERMINALS = {
    "agent_run_completed",
    "agent_run_salvaged",
    "agent_run_failed",
    "agent_run_cancelled",
}
FRAMES = TERMINALS | {
    "input_accepted",
    "agent_run_started",
    "assistant_message",
    "thinking",
    "tool_started",
    "tool_ended",
    "approval_requested",
    "approval_settled",
    "steer_accepted",
    "steer_applied",
    "steer_rejected",
    "queue_changed",
    "agent_run_waiting",
    "agent_run_resumed",
    "subagent_started",
    "subagent_ended",
    "sources",
    "artifact_building",
    "artifact_saved",
    "canvas",
    "file_saved",
    "compaction",
    "notice",
}
TOOLS = {
    "search_about",
    "show_chat_canvas",
    "conversation_history_search",
    "list_available_agents",
    "create_artifact",
    "update_artifact",
    "edit_artifact",
    "begin_artifact",
    "append_artifact",
    "finalize_artifact",
    "discard_artifact",
    "read_artifact",
    "tool_search",
}
OUTCOMES = {
    "success",
    "error",
    "pending_confirmation",
    "repeat_suppressed",
    "denied",
    "cancelled",
    "timeout",
}
CLASSES = {
    "invalid_argument",
    "not_found",
    "forbidden",
    "rate_limited",
    "timeout",
    "provider_error",
    "tool_error",
}


@pytest.mark.req("TST-004")
@pytest.mark.parametrize(
    ("vocabulary", "agreed"),
    [
        pytest.param(ToolKind, {"read", "write"}, id="kinds of tools"),
        pytest.param(Tier, {"read", "write", "sensitive"}, id="tiers of capability"),
        pytest.param(Outcome, OUTCOMES, id="outcomes of tool calls"),
        pytest.param(ErrorClass, CLASSES, id="classes of failure"),
        pytest.param(Mode, {"search", "chat"}, id="modes of agents"),
        pytest.param(Audience, {"private", "everyone"}, id="audiences of agents"),
        pytest.param(Kind, FRAMES, id="durable frames"),
        pytest.param(Terminal, {name.removeprefix("agent_run_") for name in TERMINALS}, id="ends"),
        pytest.param(ToolCallMode, {"native", "constrained", "none"}, id="ways to call tools"),
        pytest.param(TokenScope, {"read", "write", "admin"}, id="scopes of tokens"),
        pytest.param(AGENT_LOOP_TOOL_NAMES, TOOLS, id="tools"),
        pytest.param(ENTRIES, TOOLS, id="registered tools"),
    ],
)
def test_a_vocabulary_has_the_agreed_members(vocabulary: Collection[str], agreed: set[str]) -> None:
    assert {str(member) for member in vocabulary} == agreed
    assert len(list(vocabulary)) == len(agreed)


def test_a_durable_input_is_in_one_of_the_named_states() -> None:
    assert {"queued", "completed", "failed", "salvaged"} <= {str(state) for state in InputStatus}

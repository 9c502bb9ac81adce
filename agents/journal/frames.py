"""The closed set of durable frames and their public shape."""

from typing import TYPE_CHECKING, Any, Final, Union

from django.db import models

if TYPE_CHECKING:
    from agents.journal.models import Entry
    from agents.journal.replay import Shown


class Kind(models.TextChoices):
    """Names of durable frames, as the public HTTP contract states them."""

    INPUT_ACCEPTED = "input_accepted"
    AGENT_RUN_STARTED = "agent_run_started"
    ASSISTANT_MESSAGE = "assistant_message"
    THINKING = "thinking"
    TOOL_STARTED = "tool_started"
    TOOL_ENDED = "tool_ended"
    APPROVAL_REQUESTED = "approval_requested"
    APPROVAL_SETTLED = "approval_settled"
    STEER_ACCEPTED = "steer_accepted"
    STEER_APPLIED = "steer_applied"
    STEER_REJECTED = "steer_rejected"
    QUEUE_CHANGED = "queue_changed"
    AGENT_RUN_WAITING = "agent_run_waiting"
    AGENT_RUN_RESUMED = "agent_run_resumed"
    SUBAGENT_STARTED = "subagent_started"
    SUBAGENT_ENDED = "subagent_ended"
    SOURCES = "sources"
    ARTIFACT_BUILDING = "artifact_building"
    ARTIFACT_SAVED = "artifact_saved"
    CANVAS = "canvas"
    FILE_SAVED = "file_saved"
    COMPACTION = "compaction"
    NOTICE = "notice"
    AGENT_RUN_COMPLETED = "agent_run_completed"
    AGENT_RUN_SALVAGED = "agent_run_salvaged"
    AGENT_RUN_FAILED = "agent_run_failed"
    AGENT_RUN_CANCELLED = "agent_run_cancelled"


TERMINALS: Final = (
    Kind.AGENT_RUN_COMPLETED,
    Kind.AGENT_RUN_SALVAGED,
    Kind.AGENT_RUN_FAILED,
    Kind.AGENT_RUN_CANCELLED,
)


def frame(entry: Union["Entry", "Shown"]) -> dict[str, Any]:
    """The public form of an entry: what SSE, WebSocket and JSON replay all send."""
    return {
        "event": entry.kind,
        "position": entry.position,
        "input_id": str(entry.input_id) if entry.input_id else None,
        "turn_id": str(entry.run_id) if entry.run_id else None,
        "at": entry.at.isoformat(),
        "data": entry.data,
    }

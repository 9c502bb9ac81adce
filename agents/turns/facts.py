"""What a turn did, for those who look after the house and may not read what people wrote.

Codes, counts, names of registered tools and times only. A value is told because its key is listed
here and it is a code or a number, never because it is there.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from agents.journal import replay
from agents.journal.frames import TERMINALS, Kind
from agents.turns.models import Turn
from tools.boundary.registry import ENTRIES

CODE: Final = re.compile(r"[a-z0-9_.:-]{1,80}")  # reason codes and ids, no sentences
TOLD: Final = (
    "outcome",
    "reason",
    "error_class",
    "failure_domain",
    "for",
    "by",
    "state",
    "code",
    "tier",
    "effect",
    "duration_ms",
    "before_tokens",
    "after_tokens",
    "approval_id",
    "steer_id",
    "call_id",
)


@dataclass(frozen=True)
class Step:
    """One entry of the journal without its content."""

    position: int
    at: datetime
    kind: str
    tool: str
    told: dict[str, Any]


@dataclass(frozen=True)
class Facts:
    """A turn as its row and its entries tell it."""

    turn: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, int] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()


def of_run(run_id: UUID) -> Facts:
    """The facts of a turn; empty ones for a run nobody has begun."""
    entries = replay.of_run(run_id)
    usage = next((e.data.get("usage") or {} for e in reversed(entries) if e.kind in TERMINALS), {})
    steps = (
        Step(entry.position, entry.at, entry.kind, _tool(entry.kind, entry.data), _told(entry.data))
        for entry in entries
    )
    numbers = {name: value for name, value in usage.items() if isinstance(value, int)}
    return Facts(_turn(run_id), numbers, tuple(steps))


def _turn(run_id: UUID) -> dict[str, Any]:
    row = (
        Turn.objects.filter(id=run_id)
        .values(
            "conversation_id",
            "agent_version__agent_id",
            "agent_version__number",
            "deployment_id",
            "terminal",
            "reason",
            "started_at",
            "ended_at",
        )
        .first()
    )
    if row is None:
        return {}
    row["agent_id"] = row.pop("agent_version__agent_id")
    row["agent_version"] = row.pop("agent_version__number")
    return row


def _tool(kind: str, data: dict[str, Any]) -> str:
    """The called tool, where it is one of ours: any other name is words of a model."""
    if kind not in (Kind.TOOL_STARTED, Kind.APPROVAL_REQUESTED):
        return ""
    name = str(data.get("tool") or data.get("name") or "")
    return name if name in ENTRIES else "unknown"


def _told(data: dict[str, Any]) -> dict[str, Any]:
    found = {name: data[name] for name in TOLD if data.get(name) not in (None, "")}
    return {name: value for name, value in found.items() if _is_telling(value)}


def _is_telling(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and CODE.fullmatch(value) is not None)

"""The one composition of every system prompt. The order is part of the contract."""

from dataclasses import dataclass
from datetime import datetime

from agents.prompts import grounding, identity, temporal


@dataclass(frozen=True)
class Subject:
    """What the blocks are about: the agent's persona and the person who asks."""

    persona: str
    display_name: str
    time_zone: str


def compose(subject: Subject, now: datetime) -> str:
    """Grounding, temporal awareness, member identity, then the agent's persona."""
    blocks = (
        grounding.block(),
        temporal.block(now, subject.time_zone),
        identity.block(subject.display_name),
        subject.persona,
    )
    return "\n\n".join(block for block in blocks if block)

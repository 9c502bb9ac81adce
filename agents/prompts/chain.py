"""The one composition of every system prompt. The order is part of the contract.

What binds a run is not said here: the offer, the ceiling and the bounds are held by the host,
which goes by what admission froze even where an older prompt says otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from agents.prompts import grounding, identity, plain_speak, settings_projection, temporal
from agents.prompts.settings_projection import Settings


@dataclass(frozen=True)
class Subject:
    """What the blocks are about: the agent's persona, the person who asks, what is set."""

    persona: str
    display_name: str
    time_zone: str
    settings: Settings


Block = Callable[[Subject, datetime], str]

# First what every agent is told, then what the agent's author wrote, last the server's settings.
# What never changes stands first, so that a provider can keep the beginning.
BLOCKS: Final[tuple[Block, ...]] = (
    lambda subject, now: grounding.block(),
    lambda subject, now: temporal.block(now, subject.time_zone),
    lambda subject, now: identity.block(subject.display_name),
    lambda subject, now: plain_speak.block(subject.settings.plain_speak),
    lambda subject, now: settings_projection.unlike(subject.persona),
    lambda subject, now: settings_projection.block(subject.settings),
)


def compose(subject: Subject, now: datetime) -> str:
    """The blocks that have something to say, in order, with an empty line between them."""
    blocks = (block(subject, now) for block in BLOCKS)
    return "\n\n".join(block for block in blocks if block)

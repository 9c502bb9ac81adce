"""Answers that are dropped and asked for again, by rules of the server's. Pure.

The rules are this list: no agent, persona or bundle adds one. What a model says in a turn with
rules is held back until it cannot run into one any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

REQUIRED_TOOL: Final = "required_tool"  # the member asked for a call that has not been made


@dataclass(frozen=True)
class Rule:
    """Answers that open with one of `openings` and call nothing run into the rule; `text` is what
    the model is told before it answers again.
    """

    id: str
    openings: tuple[str, ...]
    text: str


WITH_TOOLS: Final = (
    Rule(
        id="written_call",
        openings=(
            "<tool_call>",
            "<tool_use>",
            "<function_call>",
            "<function=",
            "<|tool_call",
            "<|python_tag|>",
            "[TOOL_CALLS]",
        ),
        text=(
            "Your last answer wrote a tool call as text, so nothing was run. Make the call itself,"
            " or answer in words."
        ),
    ),
)
TEXTS: Final = {rule.id: rule.text for rule in WITH_TOOLS}


def rules(*, offers_tools: bool) -> tuple[Rule, ...]:
    """The rules of one model step."""
    return WITH_TOOLS if offers_tools else ()


def undecided(chosen: Sequence[Rule], text: str) -> bool:
    """Whether a text that is still growing may yet run into a rule, or has."""
    begun = text.lstrip()
    return any(
        begun.startswith(opening) or opening.startswith(begun)
        for rule in chosen
        for opening in rule.openings
    )


def matched(chosen: Sequence[Rule], text: str) -> str:
    """The rule a whole answer without calls ran into; empty for none."""
    begun = text.lstrip()
    for rule in chosen:
        if begun.startswith(rule.openings):
            return rule.id
    return ""

"""Plain words for people who want them: on or off for a run, the same for every agent."""

from typing import Final

RULES: Final = (
    "This person wants plain words. Put the point first. Use short sentences and everyday words."
    " Explain a technical term the first time or leave it out. Keep names, numbers and warnings"
    " exact."
)


def block(on: bool) -> str:
    """The rules of plain words; empty when the person has not asked for them."""
    return RULES if on else ""

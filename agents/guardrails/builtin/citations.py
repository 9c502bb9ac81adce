"""What a member supplied is evidence of theirs: shown as inline code, never as a citation.

A card is made for a source only because a tool retrieved it in the run. An id that stands in the
member's own message stays text here, whatever syntax the member or the model puts around it.
"""

import re
from typing import Final

from agents.guardrails.facts import Facts
from agents.guardrails.inventory import CITATION_SHAPE, UUID_SHAPE, Inventory

ATTRIBUTION: Final = "given by you"
# Code and addresses stay as they are: an id in them is text already.
_PLACES: Final = re.compile(
    r"(?P<kept>```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]+`|\]\([^)\s]{0,300}\)|\bhttps?://\S+)"
    rf"|{CITATION_SHAPE}|(?<![\w-])(?P<uuid>{UUID_SHAPE})(?![\w-])",
    re.DOTALL | re.IGNORECASE,
)


def cleaned(facts: Facts, text: str) -> str:
    """The text with every supplied id as inline code, attributed where it stood as a citation."""
    supplied = facts.supplied
    if not supplied:
        return text
    return _PLACES.sub(lambda match: _place(match, supplied), text)


def _place(match: re.Match[str], supplied: Inventory) -> str:
    if match["uuid"]:
        return f"`{match['uuid']}`" if match["uuid"] in supplied else match[0]
    if not match["cited"]:
        return match[0]
    labels = [label.strip() for label in match["cited"].split(",") if label.strip()]
    theirs = [label for label in labels if label in supplied]
    if not theirs:
        return match[0]
    shown = f"{', '.join(f'`{_plain(label)}`' for label in theirs)} ({ATTRIBUTION})"
    others = [label for label in labels if label not in supplied]
    return f"{shown} [source: {', '.join(others)}]" if others else shown


def _plain(label: str) -> str:
    """A label that cannot end the code it stands in."""
    return label.replace("`", "'")

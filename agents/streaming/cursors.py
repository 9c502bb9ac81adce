"""Positions as clients send them."""

import re
from typing import Final
from urllib.parse import parse_qs

from audit.reasons import Reason
from audit.refusals import Refusal

_POSITION: Final = re.compile(r"[0-9]{1,18}")


def from_query(query: str) -> int:
    """`after` of a query string, 0 without one; raises `Refusal(INVALID_CURSOR)`."""
    values = parse_qs(query, keep_blank_values=True).get("after", ["0"])
    if len(values) != 1:
        raise _refusal()
    return from_text(values[0])


def from_text(text: str) -> int:
    """A position in decimal digits; raises `Refusal(INVALID_CURSOR)`."""
    if not _POSITION.fullmatch(text):
        raise _refusal()
    return int(text)


def _refusal() -> Refusal:
    return Refusal(Reason.INVALID_CURSOR, "A position is a whole number from 0.")

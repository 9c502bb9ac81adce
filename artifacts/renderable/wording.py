"""What the texts, markings and table of an envelope must keep beyond its schema. Pure."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any, Final

# Control characters and marks that reorder text; a fallback may have tabs and line breaks.
HIDING: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
HIDING_BUT_BREAKS: Final = re.compile(HIDING.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))
DEVICES: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)\.", re.IGNORECASE)
DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
MOMENT: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?(Z|[+-]\d{2}:\d{2})")


def problems(envelope: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the texts of an envelope that satisfies its schema."""
    if _unfit(envelope["text_fallback"], HIDING_BUT_BREAKS):
        yield "text_fallback is blank, untrimmed or has hidden characters"
    for name in ("cluster", "dataset", "job"):
        if _unfit(envelope["provenance"][name]):
            yield f"provenance.{name} is blank, untrimmed or has hidden characters"
    if DEVICES.match(envelope["download"]["filename"]):
        yield "download.filename is a reserved name"
    yield from _marking_problems(envelope["security"]["markings"])


def _marking_problems(markings: list[str] | dict[str, str]) -> Iterator[str]:
    if isinstance(markings, dict):
        if any(map(_unfit, markings.values())):
            yield "security.markings has a blank or untrimmed marking or hidden characters"
        return
    trimmed = [marking.strip() for marking in markings]
    if any(map(_unfit, trimmed)):
        yield "security.markings has a blank marking or hidden characters"
    if len(set(trimmed)) < len(trimmed):
        yield "security.markings names a marking twice"


def table_problems(table: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a table whose shape satisfies the schema."""
    columns = table["columns"]
    keys = Counter(column["key"] for column in columns)
    if len(keys) < len(columns):
        yield "payload.data.columns has a key twice"
    if any(_unfit(column["label"]) for column in columns):
        yield "payload.data.columns has a blank or untrimmed label or hidden characters"
    types = {column["key"]: column.get("type", "") for column in columns}
    for number, row in enumerate(table["rows"], 1):
        for key, cell in row.items():
            if key not in types:
                yield f"row {number} of payload.data has a cell that belongs to no column"
            elif not fits(cell, types[key]):
                yield f"row {number} of payload.data has a cell that is not of its column's type"


def fits(cell: Any, of_type: str) -> bool:
    """Whether a cell is empty or a value of its column's type; "" takes every scalar."""
    if cell is None:
        return True
    match of_type:
        case "text":
            return isinstance(cell, str)
        case "number":
            return isinstance(cell, int | float) and not isinstance(cell, bool)
        case "boolean":
            return isinstance(cell, bool)
        case "date":
            return isinstance(cell, str) and bool(DATE.fullmatch(cell)) and _exists(cell)
        case "datetime":
            return isinstance(cell, str) and bool(MOMENT.fullmatch(cell)) and _exists(cell)
    return not isinstance(cell, dict | list)


def _exists(text: str) -> bool:
    read = date.fromisoformat if len(text) == len("2026-01-01") else datetime.fromisoformat
    try:
        read(text)
    except ValueError:
        return False
    return True


def _unfit(text: str, hiding: re.Pattern[str] = HIDING) -> bool:
    return not text.strip() or text != text.strip() or bool(hiding.search(text))

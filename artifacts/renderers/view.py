"""What a page is told about a stored envelope, whichever renderer it names.

Only `table` draws; any other name, and a payload that is only a reference, shows the producer's
text. Nothing here follows a reference or reads rights from a marking.
"""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from artifacts.renderers import table

BANNER: Final = "banner"  # the portion that is the marking of the whole
NATIVE: Final[Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]] = MappingProxyType(
    {"table": table.projected}
)


def of(content: str) -> dict[str, Any]:
    """The view of a stored envelope.

    `shows` is `table` or `text`; `table` is None unless it shows one. `markings` keeps the form
    they came in: each with its portion, None in a list. `banner` is what stands over the whole.
    """
    envelope: dict[str, Any] = json.loads(content)
    payload, name = envelope["payload"], envelope["renderer"]["type"]
    draw = NATIVE.get(name) if "data" in payload else None
    markings = envelope["security"]["markings"]
    return {
        "renderer": name,
        "shows": name if draw else "text",
        "text": envelope["text_fallback"],
        "table": draw(payload["data"]) if draw else None,
        "payload_type": payload["type"],
        "payload_version": payload.get("version"),
        "result_ref": payload.get("result_ref"),
        "banner": _banner(markings),
        "markings": _listed(markings),
        "provenance": envelope["provenance"],
        "filename": envelope["download"]["filename"],
    }


def _banner(markings: list[str] | dict[str, str]) -> list[str]:
    """Every marking of a list; of a map the one for the whole, where it has one."""
    if isinstance(markings, list):
        return markings
    return [markings[BANNER]] if BANNER in markings else []


def _listed(markings: list[str] | dict[str, str]) -> list[dict[str, str | None]]:
    if isinstance(markings, list):
        return [{"portion": None, "marking": marking} for marking in markings]
    return [{"portion": portion, "marking": marking} for portion, marking in markings.items()]

"""The one normaliser of renderable envelopes: any JSON in, canonical text out, or a refusal.

The schema in `artifacts/contracts` says what an envelope is made of; the README beside it lists
what is checked here beyond it. Messages are made from the contract, never from the candidate,
which may be secret.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # ships no types
from jsonschema.exceptions import ValidationError  # type: ignore[import-untyped]  # likewise
from jsonschema.validators import extend  # type: ignore[import-untyped]  # likewise
from referencing import Registry

from artifacts.renderable import leaks, wording
from audit import canonical
from audit.limits import limit
from audit.reasons import Reason
from audit.refusals import Invalid, Refusal

ENVELOPE_BYTES = limit(
    "renderable.envelope",
    524_288,
    "bytes",
    "Size of a renderable artifact's envelope as canonical JSON.",
)
CONTEXT_BYTES = limit(
    "renderable.context",
    16_384,
    "bytes",
    "Size of the source context of a renderable artifact as canonical JSON.",
)
ENVELOPE_DEPTH = limit(
    "renderable.depth", 32, "levels", "Deepest nesting inside a renderable artifact's envelope."
)
SHOWN_PROBLEMS: Final = 5
TABLE: Final = "table"  # the one renderer that draws
SCHEMA_FILE: Final = Path(__file__).parents[1] / "contracts" / "renderable-artifact-v1.schema.json"
SCHEMA: Final[dict[str, Any]] = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))


def _whole_pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    """The keyword `pattern` as ECMA means it: Python's `$` also stands before a last line break."""
    if isinstance(instance, str) and not re.fullmatch(pattern, instance):
        yield ValidationError("does not match")


# An empty registry: nothing is ever fetched.
_VALIDATOR: Final = extend(Draft202012Validator, {"pattern": _whole_pattern})(
    SCHEMA, registry=Registry()
)


class UnfitEnvelope(Invalid):
    """A candidate that is no envelope. `found` says where and what, without repeating values."""

    def __init__(self, found: list[str]) -> None:
        super().__init__(
            [{"field": "envelope", "reason": str(Reason.INVALID_FIELD)}],
            "The renderable envelope is not right: " + "; ".join(found) + ".",
        )
        self.found = found


@dataclass(frozen=True)
class Envelope:
    """An accepted envelope: its canonical text, and the same as a value nobody changes."""

    text: str
    value: dict[str, Any]


def normalise(candidate: Any, *, secrets: tuple[str, ...] = ()) -> Envelope:
    """The canonical envelope of a candidate; `secrets` are values this installation keeps secret.

    Raises `UnfitEnvelope`. The same value in any notation gives the same text.
    """
    value = _strict(candidate)
    _refuse(_unmarked(value))
    _refuse(list(_of_schema(value)))
    _refuse(list(_beyond_schema(value)))
    _refuse(list(leaks.found(value, secrets)))
    text = canonical.dump(_kept(value))
    if len(text.encode()) > ENVELOPE_BYTES:
        raise UnfitEnvelope([f"it has more than {ENVELOPE_BYTES:,} bytes"])
    return Envelope(text, json.loads(text))


def filename(text: str) -> str:
    """What the JSON of an accepted envelope is called when it is saved; safe as a file name."""
    return str(json.loads(text)["download"]["filename"])


def _strict(candidate: Any) -> dict[str, Any]:
    """A copy of the candidate as any reader of its JSON sees it, bounded in size and depth."""
    try:
        canonical.check(candidate, max_depth=ENVELOPE_DEPTH)
    except Refusal as refusal:
        raise UnfitEnvelope([f"it cannot be kept ({refusal.message})"]) from None
    if not isinstance(candidate, dict):
        raise UnfitEnvelope(["it must be an object"])
    text = canonical.dump(candidate)
    if len(text.encode()) > ENVELOPE_BYTES:
        raise UnfitEnvelope([f"it has more than {ENVELOPE_BYTES:,} bytes"])
    value: dict[str, Any] = json.loads(text)
    return value


def _unmarked(value: dict[str, Any]) -> list[str]:
    """A producer that could not mark its result says so; nothing stands in for the marking."""
    security = value.get("security")
    inside = isinstance(security, dict) and "markings_error" in security
    return ["its producer reports markings_error"] if inside or "markings_error" in value else []


def _of_schema(value: dict[str, Any]) -> Iterator[str]:
    for error in islice(_VALIDATOR.iter_errors(value), SHOWN_PROBLEMS):
        yield f"{_path(error)} {_problem(error)}"


def _path(error: Any) -> str:
    """Where an error is, as far as the contract names it; keys of the candidate stay out."""
    names = [str(part) for part in error.absolute_path if isinstance(part, int) or part in _NAMES]
    return ".".join(names) or "envelope"


def _problem(error: Any) -> str:
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return f"lacks {', '.join(missing)}"
    if error.validator == "additionalProperties":
        return "has keys that the contract does not know"
    if error.validator == "type":
        return f"must be of type {error.validator_value}"
    return f"breaks the contract ({error.validator})"


def _beyond_schema(value: dict[str, Any]) -> Iterator[str]:
    yield from wording.problems(value)
    context = value["provenance"].get("context", {})
    if len(canonical.dump(context).encode()) > CONTEXT_BYTES:
        yield f"provenance.context has more than {CONTEXT_BYTES:,} bytes"
    payload = value["payload"]
    if value["renderer"]["type"] == TABLE and "data" in payload:
        yield from wording.table_problems(payload["data"])


def _kept(value: dict[str, Any]) -> dict[str, Any]:
    """What is stored: one form for what may be written in several."""
    markings = value["security"]["markings"]
    if isinstance(markings, list):
        markings = [marking.strip() for marking in markings]
    return {
        **value,
        "security": {"markings": markings},
        "provenance": {"context": {}, **value["provenance"]},
    }


def _refuse(found: list[str]) -> None:
    if found:
        raise UnfitEnvelope(found[:SHOWN_PROBLEMS])


def _names(schema: Any) -> Iterator[str]:
    """Every property name of the contract."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for inner in schema.values():
            yield from _names(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _names(inner)


_NAMES: Final = frozenset(_names(SCHEMA))

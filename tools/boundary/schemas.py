"""What a tool's parameters may look like, what a model is shown of them, and validation.

Schemas are JSON Schema 2020-12 and stand alone: no reference leaves the document.
"""

import json
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # ships no types
from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]  # ships no types
from referencing import Registry

from audit.limits import limit
from tools.boundary.contract import Json

ADVERTISED_BOUND = limit(
    "tool.advertised_bound",
    2_000,
    "count",
    "Size bounds of this height and more are enforced but not shown to the model, because"
    " grammar-based servers refuse them.",
)
MAX_PROBLEMS: Final = 5  # enough to repair a call at once, short enough to read
MAX_VALUE_SHOWN: Final = 120  # characters of a schema's value repeated in a message

SIZE_BOUNDS: Final = frozenset(
    {"maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"}
)
# Who acts is decided by the server; a schema that asks a model for it is refused.
IDENTITY_FIELDS: Final = frozenset(
    f"{noun}{ending}"
    for noun in ("member", "owner", "user", "tenant", "workroom", "role", "actor", "principal")
    for ending in ("", "s", "_id", "_ids", "_name")
)
# Keywords whose value maps names to schemas, holds one schema, or lists schemas.
NAMED: Final = frozenset({"properties", "patternProperties", "$defs", "dependentSchemas"})
SINGLE: Final = frozenset(
    {
        "items",
        "contains",
        "additionalProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
    }
)
LISTED: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})

Problem = dict[str, str]


def problem(parameters: Json) -> str:
    """Why a schema cannot be a tool's parameters, or an empty text."""
    if parameters.get("type") != "object" or parameters.get("additionalProperties") is not False:
        return "parameters must be an object that refuses unknown fields"
    try:
        Draft202012Validator.check_schema(parameters)
    except SchemaError as error:
        return f"parameters are not a valid schema: {error.message:.200}"
    for schema in _schemas(parameters):
        for keyword in ("$ref", "$dynamicRef"):
            if not str(schema.get(keyword, "#")).startswith("#"):
                return "a reference leaves the schema"
        named = IDENTITY_FIELDS & set(schema.get("properties", {}))
        if named:
            return f"parameters accept identity: {', '.join(sorted(named))}"
    return ""


def advertised(schema: Any) -> Any:
    """A copy of a schema without size bounds of 2,000 and more; lower ones stay as they are."""
    if not isinstance(schema, dict):
        return schema
    return {
        keyword: _advertised_value(keyword, value)
        for keyword, value in schema.items()
        if not (keyword in SIZE_BOUNDS and value >= ADVERTISED_BOUND)
    }


def problems(parameters: Json, arguments: Json) -> list[Problem]:
    """Up to five `{"path", "problem"}` of arguments against the full schema; empty when valid.

    Messages are made from the schema, never from the value: arguments may be long or secret.
    """
    validator = _compiled(json.dumps(parameters, sort_keys=True))
    return [
        {"path": _path(error), "problem": _message(error)}
        for error in islice(validator.iter_errors(arguments), MAX_PROBLEMS)
    ]


@lru_cache(maxsize=256)
def _compiled(text: str) -> Any:
    """Compiled once for each schema. An empty registry: nothing is ever fetched."""
    return Draft202012Validator(json.loads(text), registry=Registry())


def _schemas(schema: Any) -> Iterator[Json]:
    """The schema and every schema inside it."""
    if not isinstance(schema, dict):
        return
    yield schema
    for keyword, value in schema.items():
        if keyword in NAMED:
            inner = list(value.values())
        elif keyword in LISTED:
            inner = value
        else:
            inner = [value] if keyword in SINGLE else []
        for one in inner:
            yield from _schemas(one)


def _advertised_value(keyword: str, value: Any) -> Any:
    if keyword in NAMED:
        return {name: advertised(inner) for name, inner in value.items()}
    if keyword in LISTED:
        return [advertised(inner) for inner in value]
    return advertised(value) if keyword in SINGLE else value


def _path(error: Any) -> str:
    return "/".join(str(part)[:MAX_VALUE_SHOWN] for part in error.absolute_path) or "(arguments)"


def _message(error: Any) -> str:
    expected = error.validator_value
    match error.validator:
        case "required":
            missing = [name for name in expected if name not in error.instance]
            return f"missing: {', '.join(missing)}"
        case "additionalProperties":
            known = ", ".join(error.schema.get("properties", {})) or "none"
            return f"unknown fields; known are: {known}"
        case "type":
            return f"must be of type {expected}"
        case "enum":
            return f"must be one of {json.dumps(expected, ensure_ascii=False)}"
        case "maxLength" | "minLength":
            bound = "at most" if error.validator == "maxLength" else "at least"
            return f"has {len(error.instance):,} characters; it must have {bound} {expected:,}"
    return (
        f"breaks {error.validator}: {json.dumps(expected, ensure_ascii=False):.{MAX_VALUE_SHOWN}}"
    )

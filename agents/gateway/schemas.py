"""Tool schemas as servers that turn them into grammars accept them. Pure.

Such servers refuse repetition bounds above a built-in limit, and nested bounds whose product is
above it; which numbers exactly differs from version to version. So bounds are dropped well below
the limit before a schema is sent, and the whole schema is checked on our side when the call comes
back.
"""

from typing import Any

Schema = dict[str, Any]

# Measured on llama.cpp servers: an upper bound of 2,000 can be refused, and so can a lower bound
# or a product of nested bounds above 2,000; half of it is accepted by all.
MAX_UPPER_BOUND = 1_000
MAX_LOWER_BOUND = 100
MAX_PRODUCT = 1_000

UPPER = frozenset({"maxLength", "maxItems", "maxProperties"})
LOWER = frozenset({"minLength", "minItems", "minProperties"})
# A pattern can count as well, and servers refuse patterns that are not anchored at both ends.
UNREADABLE = frozenset({"pattern"})
# Members whose schema stands for every element of an array.
REPEATED = frozenset({"items", "prefixItems", "additionalItems", "contains"})
# Members whose values are plain data, where a key that looks like a bound is none.
DATA = frozenset({"const", "enum", "default", "examples", "example"})
# Members whose keys are names of the tool's own.
NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
DEFINITIONS = ("$defs", "definitions")


def bounded(schema: Schema) -> Schema:
    """A copy without the bounds that a grammar may not survive."""
    return _schema(schema, 1, keep=True)


def unbounded(schema: Schema) -> Schema:
    """A copy without any bound or pattern."""
    return _schema(schema, 1, keep=False)


def hoisted(schema: Schema, prefix: str) -> tuple[Schema, Schema]:
    """The schema ready to stand inside another one, and its definitions under prefixed names.

    References like `#/$defs/Place` count from the root of the document, which is another one then.
    """
    definitions = {
        f"{prefix}.{name}": _renamed_part(inner, prefix)
        for group in DEFINITIONS
        for name, inner in (schema.get(group) or {}).items()
    }
    rest = {name: value for name, value in schema.items() if name not in DEFINITIONS}
    return _renamed(rest, prefix), definitions


def _schema(schema: Schema, factor: int, *, keep: bool) -> Schema:
    """`factor` is how often what stands here may be repeated by the arrays around it."""
    inner_factor = factor * _repetition(schema)
    made: Schema = {}
    for name, inner in schema.items():
        if name in DATA:
            made[name] = inner
        elif name in NAMED and isinstance(inner, dict):
            made[name] = {key: _part(part, factor, keep=keep) for key, part in inner.items()}
        elif name in UPPER or name in LOWER:
            if keep and _fits(name, inner, factor):
                made[name] = inner
        elif name not in UNREADABLE:
            repeated = name in REPEATED
            made[name] = _part(inner, inner_factor if repeated else factor, keep=keep)
    return made


def _part(value: Any, factor: int, *, keep: bool) -> Any:
    if isinstance(value, list):
        return [_part(inner, factor, keep=keep) for inner in value]
    return _schema(value, factor, keep=keep) if isinstance(value, dict) else value


def _repetition(schema: Schema) -> int:
    """How often this array repeats what is inside it, as far as a bound says so."""
    bounds = [schema.get(name) for name in ("maxItems", "minItems")]
    numbers = [bound for bound in bounds if isinstance(bound, int) and _fits("maxItems", bound, 1)]
    return max([1, *numbers])


def _fits(name: str, bound: Any, factor: int) -> bool:
    if not isinstance(bound, int):
        return False
    if name in UPPER:
        return bound <= MAX_UPPER_BOUND and bound * factor <= MAX_PRODUCT
    return bound <= MAX_LOWER_BOUND and bound * factor <= MAX_PRODUCT


def _renamed(schema: Schema, prefix: str) -> Schema:
    made: Schema = {}
    for name, inner in schema.items():
        if name in NAMED and isinstance(inner, dict):
            made[name] = {key: _renamed_part(part, prefix) for key, part in inner.items()}
        else:
            made[name] = inner if name in DATA else _renamed_part(inner, prefix)
    reference = made.get("$ref")
    if isinstance(reference, str):
        for group in DEFINITIONS:
            if reference.startswith(f"#/{group}/"):
                made["$ref"] = f"#/$defs/{prefix}.{reference.removeprefix(f'#/{group}/')}"
    return made


def _renamed_part(value: Any, prefix: str) -> Any:
    if isinstance(value, list):
        return [_renamed_part(inner, prefix) for inner in value]
    return _renamed(value, prefix) if isinstance(value, dict) else value

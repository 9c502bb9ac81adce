"""Schemas as grammar-based servers accept them."""

import pytest

from agents.gateway import schemas


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        ({"maxLength": 1000}, {"maxLength": 1000}),
        ({"maxLength": 1001}, {}),
        ({"minLength": 100}, {"minLength": 100}),
        ({"minLength": 101}, {}),
        ({"maxItems": 2000}, {}),
        ({"minItems": 101, "maxItems": 200}, {"maxItems": 200}),
        ({"pattern": "^[a-z]{3}$"}, {}),
        ({"maxLength": True, "enum": ["maxLength"]}, {"maxLength": True, "enum": ["maxLength"]}),
        ({"maxLength": "9"}, {}),
        ({"minimum": 5000, "maximum": 9000}, {"minimum": 5000, "maximum": 9000}),
    ],
)
def test_it_drops_the_bounds_a_grammar_may_not_survive(schema: dict, kept: dict) -> None:
    assert schemas.bounded(schema) == kept


def test_nested_bounds_count_by_their_product() -> None:
    text = {"type": "string", "maxLength": 50}
    rows = {"type": "array", "maxItems": 50, "items": text}
    assert schemas.bounded({"type": "array", "maxItems": 20, "items": text}) == {
        "type": "array",
        "maxItems": 20,
        "items": text,
    }
    assert schemas.bounded(rows) == {
        "type": "array",
        "maxItems": 50,
        "items": {"type": "string"},
    }


def test_parameters_may_be_called_like_bounds() -> None:
    schema = {
        "type": "object",
        "properties": {"maxLength": {"type": "integer"}, "pattern": {"type": "string"}},
        "default": {"maxLength": 5000},
    }
    assert schemas.bounded(schema) == schemas.unbounded(schema) == schema


def test_without_bounds_nothing_is_left_to_count() -> None:
    schema = {"anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "maxItems": 3}]}
    assert schemas.unbounded(schema) == {"anyOf": [{"type": "string"}, {"type": "array"}]}


def test_references_keep_their_target_inside_another_schema() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/definitions/A"}, "$ref": {"$ref": "#/$defs/B"}},
        "definitions": {"A": {"items": {"$ref": "#/definitions/A"}}},
        "$defs": {"B": {"const": {"$ref": "#/$defs/B"}}},
    }
    rest, definitions = schemas.hoisted(schema, "go")
    assert rest == {"properties": {"a": {"$ref": "#/$defs/go.A"}, "$ref": {"$ref": "#/$defs/go.B"}}}
    assert definitions == {
        "go.A": {"items": {"$ref": "#/$defs/go.A"}},
        "go.B": {"const": {"$ref": "#/$defs/B"}},
    }

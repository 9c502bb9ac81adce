"""What a tool declares about sizes is what is enforced where the value is kept."""

from typing import Any

import pytest

from artifacts import editing, staging
from artifacts.kinds import content
from artifacts.models import Artifact, ArtifactVersion
from tools.boundary import projection, registry, schemas

# Where each bounded argument is kept: tool and argument, and the constant enforced there.
KEPT: dict[tuple[str, str], int] = {
    ("create_artifact", "title"): content.TITLE_CHARACTERS,
    ("create_artifact", "language"): content.LANGUAGE_CHARACTERS,
    ("create_artifact", "content"): content.CONTENT_CHARACTERS,
    ("update_artifact", "language"): content.LANGUAGE_CHARACTERS,
    ("update_artifact", "content"): content.CONTENT_CHARACTERS,
    ("edit_artifact", "hunks"): editing.HUNKS,
    ("begin_artifact", "title"): content.TITLE_CHARACTERS,
    ("begin_artifact", "language"): content.LANGUAGE_CHARACTERS,
    ("append_artifact", "content"): staging.PART_CHARACTERS,
    ("show_chat_canvas", "title"): projection.CANVAS_TITLE,
    ("show_chat_canvas", "markdown"): projection.CANVAS_CHARACTERS,
}
# Arguments that are read and forgotten.
FORGOTTEN = {
    ("search_about", "question"),
    ("conversation_history_search", "query"),
    ("tool_search", "query"),
    # compared with what is kept
    ("edit_artifact", "tag"),
    ("finalize_artifact", "receipt"),
}


def declared() -> dict[tuple[str, str], int]:
    """Tool and argument of every upper bound of size that a descriptor declares."""
    return {
        (name, argument): schema[bound]
        for name in registry.ENTRIES
        for argument, schema in registry.resolve(name).parameters["properties"].items()
        for bound in ("maxLength", "maxItems", "maxProperties")
        if bound in schema
    }


@pytest.mark.req("REG-025")
def test_every_declared_bound_is_the_one_enforced_where_it_is_kept() -> None:
    bounds = declared()
    assert set(bounds) == set(KEPT) | FORGOTTEN
    assert {key: bounds[key] for key in KEPT} == {key: int(bound) for key, bound in KEPT.items()}


@pytest.mark.req("REG-025")
def test_the_tables_hold_the_same_bounds() -> None:
    columns: Any = {field.name: field.max_length for field in Artifact._meta.concrete_fields}
    assert columns["title"] == content.TITLE_CHARACTERS
    columns = {field.name: field.max_length for field in ArtifactVersion._meta.concrete_fields}
    assert columns["language"] == content.LANGUAGE_CHARACTERS
    (bounded,) = [
        constraint
        for constraint in ArtifactVersion._meta.constraints
        if constraint.name == "artifact_content_is_bounded"
    ]
    assert f"{int(content.CONTENT_CHARACTERS)}" in repr(bounded)


def test_every_text_a_tool_takes_has_a_bound() -> None:
    free = [
        (name, argument)
        for name in registry.ENTRIES
        for argument, schema in registry.resolve(name).parameters["properties"].items()
        if schema.get("type") == "string"
        and not {"maxLength", "enum", "const"} & set(schema)
        and schema.get("format") != "uuid"
    ]
    assert free == []


@pytest.mark.req("REG-023", "REG-024")
def test_a_model_sees_exactly_the_bounds_below_two_thousand() -> None:
    for (name, argument), bound in declared().items():
        shown = schemas.advertised(registry.resolve(name).parameters)["properties"][argument]
        seen = {shown.get(key) for key in ("maxLength", "maxItems", "maxProperties")} - {None}
        assert seen == ({bound} if bound < 2_000 else set())

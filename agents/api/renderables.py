"""The shape in which a renderable artifact is shown: its table or text, markings and origin."""

import sys
from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agents.api.fields import Anything, Text, Whole, many
from artifacts.kinds.content import Kind
from artifacts.models import ArtifactVersion
from artifacts.renderable.envelope import SCHEMA
from artifacts.renderers import view
from artifacts.renderers.table import CELL_CHARACTERS, TABLE_ROWS

# What an envelope may hold, an answer may show.
_PARTS: Final = SCHEMA["properties"]
_KINDS: Final = SCHEMA["$defs"]
LINE: Final[int] = _KINDS["line"]["maxLength"]
NAME: Final[int] = _KINDS["type"]["maxLength"]
MARKINGS: Final[int] = _PARTS["security"]["properties"]["markings"]["oneOf"][0]["maxItems"]
FALLBACK: Final[int] = _PARTS["text_fallback"]["maxLength"]
FILENAME: Final[int] = _PARTS["download"]["properties"]["filename"]["maxLength"]
VERSION: Final[int] = _PARTS["payload"]["properties"]["version"]["maximum"]
COLUMNS: Final[int] = _KINDS["table"]["properties"]["columns"]["maxItems"]
ROWS: Final[int] = _KINDS["table"]["properties"]["rows"]["maxItems"]
LARGEST: Final = sys.float_info.max


def listed(child: Any, maximum: int) -> serializers.ListField:
    """A list of at most `maximum` values."""
    return serializers.ListField(child=child, max_length=int(maximum))


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "maxLength": int(CELL_CHARACTERS) + 1},
            {"type": "number", "minimum": -LARGEST, "maximum": LARGEST},
            {"type": "boolean"},
        ],
    }
)
class Cell(serializers.JSONField):
    """A text, number, truth value or nothing."""


class ShownColumn(serializers.Serializer[Any]):
    """A column; `order` lists the numbers of the shown rows as it sorts them, empty cells last."""

    key = Text(NAME)
    label: Any = Text(LINE)
    type = serializers.ChoiceField(
        choices=["boolean", "date", "datetime", "mixed", "number", "text"]
    )
    order = listed(Whole(maximum=int(TABLE_ROWS)), TABLE_ROWS)


class ShownTable(serializers.Serializer[Any]):
    """The native table. Rows have a cell for each column; `cut` says that something is left out."""

    columns = many(ShownColumn(), COLUMNS)
    rows = listed(listed(Cell(allow_null=True), COLUMNS), TABLE_ROWS)
    total = Whole(maximum=ROWS)
    cut = serializers.BooleanField()


class ShownMarking(serializers.Serializer[Any]):
    """One marking, and the portion it is for where markings differ."""

    portion = Text(NAME, allow_null=True)
    marking = Text(LINE)


class ShownOrigin(serializers.Serializer[Any]):
    """Where the data comes from."""

    cluster = Text(LINE)
    dataset = Text(LINE)
    job = Text(LINE)
    context: Any = Anything()


class ShownRenderable(serializers.Serializer[Any]):
    """A renderable artifact as people see it: its table where `shows` is table, else its text."""

    renderer = Text(NAME)
    shows = serializers.ChoiceField(choices=["table", "text"])
    text = Text(FALLBACK)
    table = ShownTable(allow_null=True)
    payload_type = Text(NAME)
    payload_version = Whole(maximum=VERSION, allow_null=True)
    result_ref = Anything(allow_null=True)
    banner = listed(Text(LINE), MARKINGS)
    markings = many(ShownMarking(), MARKINGS)
    provenance = ShownOrigin()
    filename = Text(FILENAME)


def shown(version: ArtifactVersion) -> dict[str, Any] | None:
    """A version as `ShownRenderable`, or None when it is of another kind."""
    return view.of(version.content) if version.artifact.kind == Kind.RENDERABLE else None

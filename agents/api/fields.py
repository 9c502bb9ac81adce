"""Fields that take a value as it is or refuse it; nothing is converted, trimmed or guessed."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agents.conversations.projection import MAX_PROBLEMS, PATH_CHARACTERS
from audit.reasons import Reason
from audit.refusals import FieldProblem

MAX_POSITION: Final = 2**53

_REASONS: Final = {
    "required": Reason.MISSING_FIELD,
    "unknown": Reason.UNKNOWN_FIELD,
    "max_length": Reason.TOO_LONG,
    "min_length": Reason.TOO_SHORT,
    "blank": Reason.TOO_SHORT,
}


class Strict(serializers.Serializer[Any]):
    """A body or query whose every field is known."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = [name for name in data if name not in self.fields]
            if unknown:
                raise serializers.ValidationError(
                    {name: ["Not known."] for name in unknown}, code="unknown"
                )
        return super().to_internal_value(data)


class Lenient(serializers.Serializer[Any]):
    """The query of an address: what is not known is left to whoever put it there."""


class Text(serializers.CharField):
    """A string of bounded length, kept exactly."""

    def __init__(self, max_length: int, **options: Any) -> None:
        options.setdefault("trim_whitespace", False)
        super().__init__(max_length=int(max_length), **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Whole(serializers.IntegerField):
    """A JSON integer; neither text nor a fraction nor a truth value."""

    def __init__(self, minimum: int = 0, maximum: int = MAX_POSITION, **options: Any) -> None:
        super().__init__(min_value=minimum, max_value=maximum, **options)

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return super().to_internal_value(data)


class Truth(serializers.BooleanField):
    """JSON true or false; no text or number that might mean it."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class Id(serializers.UUIDField):
    """An id as text with dashes."""

    def to_internal_value(self, data: Any) -> UUID:
        if not isinstance(data, str) or len(data) != 36:
            self.fail("invalid", value="")
        return super().to_internal_value(data)


@extend_schema_field({"type": "object", "maxProperties": 200, "additionalProperties": True})
class Anything(serializers.JSONField):
    """A JSON object whose inside another module checks or made."""


def many(item: serializers.Serializer[Any], maximum: int) -> Any:
    """A list of at most `maximum` items of one shape."""
    return serializers.ListSerializer(child=item, max_length=int(maximum))


def problems_of(errors: Any, path: str = "") -> list[FieldProblem]:
    """Flat list of wrong fields from the framework's nested errors."""
    found: list[FieldProblem] = []
    if isinstance(errors, Mapping):
        for name, inner in errors.items():
            step = "" if name == "non_field_errors" else str(name)
            found += problems_of(inner, ".".join(filter(None, (path, step))))
    elif isinstance(errors, list):
        for index, error in enumerate(errors):
            if isinstance(error, str):
                reason = _REASONS.get(getattr(error, "code", ""), Reason.INVALID_FIELD)
                found.append({"field": path[:PATH_CHARACTERS], "reason": str(reason)})
            elif error:
                found += problems_of(error, f"{path}.{index}")
    return found[:MAX_PROBLEMS]

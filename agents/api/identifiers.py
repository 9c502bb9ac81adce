"""Path values. One that no object can have becomes None, so that it is answered like a missing
object, after the same questions, and not by the router.
"""

import re
from typing import Final
from uuid import UUID

from django.urls import register_converter

FORM: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NUMBER: Final = re.compile(r"[1-9][0-9]{0,8}")


class IdConverter:
    """An id: lower-case UUID with dashes."""

    regex = "[^/]+"

    def to_python(self, value: str) -> UUID | None:
        return UUID(value) if FORM.fullmatch(value) else None

    def to_url(self, value: UUID | str) -> str:
        return str(value)


class NumberConverter:
    """A version number: 1 to 999,999,999."""

    regex = "[^/]+"

    def to_python(self, value: str) -> int | None:
        return int(value) if NUMBER.fullmatch(value) else None

    def to_url(self, value: int | str) -> str:
        return str(value)


def register() -> None:
    """Make `<id:…>` and `<number:…>` known to URL patterns."""
    register_converter(IdConverter, "id")
    register_converter(NumberConverter, "number")

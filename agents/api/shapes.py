"""Shapes that more than one resource uses: errors, pages, references."""

from typing import Any, Final

from rest_framework import serializers

from agents.api.fields import Anything, Id, Lenient, Text, Whole, many
from audit.limits import limit
from audit.reasons import Reason

PAGE_ITEMS = limit("api.page", 100, "count", "Items on one page of a list.")
DEFAULT_ITEMS: Final = 50
CURSOR_CHARACTERS: Final = 500
REASON_CHARACTERS: Final = max(map(len, Reason))


class ProblemField(serializers.Serializer[Any]):
    """One wrong field; `current` stands with a stale version."""

    field = Text(100, allow_blank=True)
    reason = Text(REASON_CHARACTERS)
    current = Whole(required=False)


class ProblemDetail(serializers.Serializer[Any]):
    """What was refused, for programs (`code`, `fields`) and for people (`message`).

    `details` come with a stale version where the call says what has changed since.
    """

    code = serializers.ChoiceField(choices=sorted(Reason))
    message = Text(500)
    fields = many(ProblemField(), 50)
    details = Anything(required=False)


class Problem(serializers.Serializer[Any]):
    """Every error."""

    error = ProblemDetail()


class Paging(Lenient):
    """Which page of a list."""

    cursor = serializers.CharField(required=False, max_length=CURSOR_CHARACTERS)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=int(PAGE_ITEMS))


class AgentName(serializers.Serializer[Any]):
    """An agent as other objects name it; without a name when the reader may no longer use it."""

    id = Id()
    name = Text(100, allow_blank=True)


class Person(serializers.Serializer[Any]):
    """A person as others see them."""

    id = Text(20)
    name = Text(150)


def page_of(item: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """The shape of one page of `item`."""
    return type(
        f"{item.__name__}Page",
        (serializers.Serializer,),
        {
            "__doc__": "One page of a list; `next` is the cursor of the page after it.",
            "items": many(item(), int(PAGE_ITEMS)),
            "next": Text(CURSOR_CHARACTERS, allow_null=True),
        },
    )

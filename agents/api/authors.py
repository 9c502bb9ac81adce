"""Who wrote a version, as people read it: from the principal that is stored to a name."""

from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext
from rest_framework import serializers

from agents.api.fields import Text
from agents.definitions.models import Agent
from agents.members.models import Member

MEMBER: Final = "member:"
AGENT: Final = "agent:"


class Author(serializers.Serializer[Any]):
    """Who wrote something. The name of an agent one may not use is not told."""

    principal = Text(100)
    name = Text(150)
    is_agent = serializers.BooleanField()


def named(principals: Iterable[str], reader: Member) -> dict[str, dict[str, Any]]:
    """Each principal's shape, with two questions to the database for all of them."""
    wanted = set(principals)
    ids = {text.removeprefix(MEMBER) for text in wanted if text.startswith(MEMBER)}
    people = Member.objects.filter(pk__in=[int(text) for text in ids if text.isdecimal()])
    agents = Agent.objects.visible_to(reader).filter(
        id__in=[UUID(text.removeprefix(AGENT)) for text in wanted if text.startswith(AGENT)]
    )
    names = {f"{MEMBER}{person.pk}": person.name_shown() for person in people}
    names |= {f"{AGENT}{agent_id}": name for agent_id, name in agents.values_list("id", "name")}
    return {
        principal: {
            "principal": principal,
            "name": names.get(principal) or _unnamed(principal),
            "is_agent": principal.startswith(AGENT),
        }
        for principal in wanted
    }


def _unnamed(principal: str) -> str:
    return gettext("An agent") if principal.startswith(AGENT) else principal

"""The caller."""

from typing import Any, Final

from rest_framework import serializers

from agents.api.fields import Text
from agents.api.operations import Call, Door, Effect, Operation, operation
from agents.members import roles
from agents.members.models import Theme, TokenScope

TAG: Final = "me"


class Me(serializers.Serializer[Any]):
    """Who calls, in which role, and how far the proof they sent reaches."""

    id = Text(20)
    username = Text(150)
    name = Text(150)
    roles = serializers.ListField(
        child=serializers.ChoiceField(choices=sorted(roles.PERMISSIONS)),
        max_length=len(roles.PERMISSIONS),
    )
    time_zone = Text(64)
    theme = serializers.ChoiceField(choices=Theme.values)
    scope = serializers.ChoiceField(choices=TokenScope.values)


class Myself(Door):
    """The person behind the session or token."""

    @operation(
        Operation("me_read", TAG, Effect.READ),
        summary="Who one is here.",
        answer=Me,
    )
    def get(self, call: Call) -> Any:
        member = call.member
        held = member.groups.filter(name__in=roles.PERMISSIONS)
        return {
            "id": str(member.pk),
            "username": member.username,
            "name": member.name_shown(),
            "roles": sorted(held.values_list("name", flat=True)),
            "time_zone": member.time_zone,
            "theme": member.theme,
            "scope": str(call.credential.scope),
        }

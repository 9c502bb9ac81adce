"""The caller."""

from typing import Any, Final

from rest_framework import serializers

from agents.api.fields import Strict, Text, Truth
from agents.api.operations import Call, Door, Effect, Operation, operation
from agents.members import preferences, roles
from agents.members.models import DuringRun, Effort, Theme, TokenScope

TAG: Final = "me"


class Preferences(Strict):
    """How agents work for oneself; what is left out stays as it is."""

    plain_speak = Truth(required=False)
    compress_tool_results = Truth(required=False)
    default_during_run = serializers.ChoiceField(choices=DuringRun.values, required=False)
    effort = serializers.ChoiceField(choices=Effort.values, required=False, allow_blank=True)


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
    plain_speak = Truth()
    compress_tool_results = Truth()
    default_during_run = serializers.ChoiceField(choices=DuringRun.values)
    effort = serializers.ChoiceField(choices=Effort.values, allow_blank=True)
    scope = serializers.ChoiceField(choices=TokenScope.values)


class Myself(Door):
    """The person behind the session or token."""

    @operation(
        Operation("me_read", TAG, Effect.READ),
        summary="Who one is here.",
        answer=Me,
    )
    def get(self, call: Call) -> Any:
        return _shown(call)

    @operation(
        Operation("me_change", TAG, Effect.WRITE, body=Preferences),
        summary="Change how agents work for oneself.",
        answer=Me,
    )
    def patch(self, call: Call) -> Any:
        preferences.change(actor=call.member, chosen=call.body)
        return _shown(call)


def _shown(call: Call) -> dict[str, Any]:
    member = call.member
    held = member.groups.filter(name__in=roles.PERMISSIONS)
    return {
        "id": str(member.pk),
        "username": member.username,
        "name": member.name_shown(),
        "roles": sorted(held.values_list("name", flat=True)),
        "time_zone": member.time_zone,
        "theme": member.theme,
        **{name: getattr(member, name) for name in preferences.NAMES},
        "scope": str(call.credential.scope),
    }

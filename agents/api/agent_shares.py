"""Who may use, copy or edit an agent besides its owner, and whom one can share with."""

import re
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from rest_framework import serializers

from agents.api.agents import TAG
from agents.api.fields import Strict, Text, many
from agents.api.operations import Call, Door, Effect, Operation, operation
from agents.api.shapes import Person
from agents.definitions import sharing
from agents.definitions.models import Audience
from agents.definitions.sharing import SHARES, Holder, Kind, Right, Share
from agents.members import people
from audit.reasons import Reason
from audit.refusals import FieldProblem, Invalid

NUMBER: Final = 20  # characters of an id of a person or group
GROUPS_SHOWN: Final = 200
WHOLE: Final = re.compile(r"[1-9][0-9]{0,8}")


class GroupName(serializers.Serializer[Any]):
    """A group of people."""

    id = Text(NUMBER)
    name = Text(150)


class FoundPerson(Person):
    """A person one can share with."""

    username = Text(150)


class AgentShare(serializers.Serializer[Any]):
    """What one person or one group was given."""

    member = Person(required=False)
    group = GroupName(required=False)
    rights = serializers.ListField(
        child=serializers.ChoiceField(choices=[str(right) for right in Right]), max_length=3
    )


class AgentShares(serializers.Serializer[Any]):
    """All that opens an agent to others."""

    audience = serializers.ChoiceField(choices=Audience.values)
    shares = many(AgentShare(), int(SHARES))


class AgentShareBody(Strict):
    """One person or one group, and what they may. Copying and editing include using."""

    member_id = Text(NUMBER, required=False)
    group_id = Text(NUMBER, required=False)
    rights = serializers.ListField(
        child=serializers.ChoiceField(choices=[str(right) for right in Right]),
        min_length=1,
        max_length=3,
    )


class AgentSharesBody(Strict):
    """What is left out stays; `shares` replace all others. All members as audience is for
    administrators.
    """

    audience = serializers.ChoiceField(choices=Audience.values, required=False)
    shares: Any = serializers.ListSerializer(
        child=AgentShareBody(), max_length=int(SHARES), required=False
    )


class People(serializers.Serializer[Any]):
    """The people found, at most ten."""

    items = many(FoundPerson(), people.FOUND)


class Groups(serializers.Serializer[Any]):
    """The caller's groups."""

    items = many(GroupName(), GROUPS_SHOWN)


class PeopleQuery(serializers.Serializer[Any]):
    """A part of a name; nobody is found by fewer than two characters."""

    q = serializers.CharField(max_length=150, trim_whitespace=True)


class SharesOfAgent(Door):
    """The shares of one agent."""

    @operation(
        Operation("agent_shares_read", TAG, Effect.READ),
        summary="Who may use an agent of one's own, and how.",
        answer=AgentShares,
    )
    def get(self, call: Call, agent_id: UUID) -> Any:
        return _told(*sharing.shares(call.member, agent_id))

    @operation(
        Operation("agent_shares_replace", TAG, Effect.WRITE, body=AgentSharesBody),
        summary="Replace an agent's shares, or decide whether all members have it.",
        answer=AgentShares,
    )
    def put(self, call: Call, agent_id: UUID) -> Any:
        audience = call.body.get("audience")
        return _told(
            *sharing.change(
                actor=call.member,
                agent_id=agent_id,
                audience=None if audience is None else Audience(audience),
                wanted=_wanted(call.body["shares"]) if "shares" in call.body else None,
            )
        )


class PeopleFound(Door):
    """People one can share with."""

    @operation(
        Operation("people_find", "people", Effect.READ, query=PeopleQuery),
        summary="Find active people by a part of their name.",
        answer=People,
    )
    def get(self, call: Call) -> Any:
        found = people.find(call.member, call.query["q"])
        return {
            "items": [
                {"id": str(one.pk), "name": one.name_shown(), "username": one.username}
                for one in found
            ]
        }


class OwnGroups(Door):
    """Groups one can share with."""

    @operation(
        Operation("groups_list", "people", Effect.READ),
        summary="The groups the caller is in; roles are none.",
        answer=Groups,
    )
    def get(self, call: Call) -> Any:
        found = people.groups_of(call.member)[:GROUPS_SHOWN]
        return {"items": [{"id": str(group.pk), "name": group.name} for group in found]}


def _told(audience: Audience, shares: Sequence[Share]) -> dict[str, Any]:
    return {"audience": str(audience), "shares": [_share(share) for share in shares]}


def _wanted(bodies: list[dict[str, Any]]) -> dict[Holder, frozenset[Right]]:
    """The shares of a body, by holder; raises `Invalid` where one names nobody or both."""
    wanted: dict[Holder, frozenset[Right]] = {}
    faults: list[FieldProblem] = []
    for place, body in enumerate(bodies):
        named = [kind for kind in Kind if f"{kind}_id" in body]
        if len(named) != 1:
            faults.append({"field": f"shares.{place}", "reason": str(Reason.INVALID_FIELD)})
            continue
        (kind,) = named
        text = body[f"{kind}_id"]
        holder = Holder(kind, int(text)) if WHOLE.fullmatch(text) else None
        if holder is None or holder in wanted:
            reason = Reason.NOT_FOUND if holder is None else Reason.INVALID_FIELD
            faults.append({"field": f"shares.{place}.{kind}_id", "reason": str(reason)})
            continue
        wanted[holder] = frozenset(Right(right) for right in body["rights"])
    if faults:
        raise Invalid(faults)
    return wanted


def _share(share: Share) -> dict[str, Any]:
    holder = {"id": str(share.holder.id), "name": share.name}
    return {str(share.holder.kind): holder, "rights": [str(right) for right in share.rights]}

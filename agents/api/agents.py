"""Agents: create, list, read, change by appending versions, copy, delete.

Whoever may use an agent sees its name, description and mode. Its definition and versions are for
those who may copy or edit it; changing and deleting are refused with 403 to people who see the
agent and may not, with 404 to everybody else.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final
from uuid import UUID

from rest_framework import serializers

from agents.api.fields import Anything, Id, Strict, Text, Whole
from agents.api.operations import Call, Door, Effect, Key, Operation, operation
from agents.api.pages import newest_first, page
from agents.api.shapes import Paging, page_of
from agents.definitions import library, versions
from agents.definitions.content import (
    DESCRIPTION_CHARACTERS,
    MAX_REFERENCES,
    NAME_CHARACTERS,
    PERSONA_CHARACTERS,
)
from agents.definitions.library import Card, Sharing, Source
from agents.definitions.models import Agent, AgentVersion, Audience, Ceiling, Mode
from audit.refusals import NotFound

TAG: Final = "agents"
FAMILIES_SHOWN: Final = 50
VERSION: Final = {"minimum": 1, "maximum": 2**31 - 1}


def _references() -> serializers.ListField:
    return serializers.ListField(child=Text(100), required=False, max_length=int(MAX_REFERENCES))


class AgentContent(serializers.Serializer[Any]):
    """An agent's definition; nothing else belongs in it."""

    name = Text(int(NAME_CHARACTERS))
    persona = Text(int(PERSONA_CHARACTERS))
    description = Text(int(DESCRIPTION_CHARACTERS), required=False, allow_blank=True)
    capability_ceiling = serializers.ChoiceField(choices=Ceiling.values, required=False)
    mode = serializers.ChoiceField(choices=Mode.values, required=False)
    routing = Anything(required=False)
    granted_package_ids = _references()
    collection_ids = _references()
    prompt_ids = _references()
    posture = Anything(required=False)
    meta = Anything(required=False)


class Unread(AgentContent):
    """The same in a body: handed on as it came, because the definition checks itself."""

    class Meta:
        ref_name = "AgentContent"

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if data is serializers.empty:
            self.fail("required")
        return data


class AgentBody(Strict):
    """A new agent."""

    content = Unread()


class AgentChange(Strict):
    """A new version of an agent; `expected_version` is the one it was made from."""

    content = Unread()
    expected_version = Whole(**VERSION)


class AgentVersionId(serializers.Serializer[Any]):
    """An agent and the version just written."""

    id = Id()
    version = Whole(**VERSION)


class AgentMay(serializers.Serializer[Any]):
    """What the caller may do with an agent besides using it."""

    edit = serializers.BooleanField()
    duplicate = serializers.BooleanField()
    share = serializers.BooleanField()
    delete = serializers.BooleanField()


class AgentItem(AgentVersionId):
    """An agent in a list. `owner_name` is empty for one that is shipped; `tools` are the families
    of tools it composes besides those every agent has.
    """

    name = Text(int(NAME_CHARACTERS))
    description = Text(int(DESCRIPTION_CHARACTERS), allow_blank=True)
    mode = serializers.ChoiceField(choices=Mode.values)
    audience = serializers.ChoiceField(choices=Audience.values)
    protected = serializers.BooleanField()
    owned = serializers.BooleanField()
    owner_name = Text(150, allow_blank=True)
    tools = serializers.ListField(child=Text(100), max_length=FAMILIES_SHOWN)
    package_count = Whole()
    collection_count = Whole()
    prompt_count = Whole()
    sharing = serializers.ChoiceField(choices=[str(each) for each in Sharing])
    may = AgentMay()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class AgentDetail(AgentItem):
    """One agent; `content` is null for those who may only use it."""

    content = AgentContent(allow_null=True)


class AgentQuery(Paging):
    """Filters: by mode, by words of name or description, by where an agent comes from."""

    mode = serializers.ChoiceField(choices=Mode.values, required=False)
    q = serializers.CharField(required=False, max_length=200)
    owner = serializers.ChoiceField(choices=[str(each) for each in Source], required=False)


class AgentCopyBody(Strict):
    """The copy's name; without one it keeps the original's, with a number where that is taken."""

    name = Text(int(NAME_CHARACTERS), required=False)


class Agents(Door):
    """All agents the caller may use."""

    @operation(
        Operation("agents_list", TAG, Effect.READ, query=AgentQuery),
        summary="List the agents one may use.",
        answer=page_of(AgentItem),
    )
    def get(self, call: Call) -> Any:
        owner = call.query.get("owner")
        rows = library.agents(
            call.member,
            mode=call.query.get("mode", ""),
            text=call.query.get("q", ""),
            source=Source(owner) if owner else None,
        )
        found = page(rows, newest_first("updated_at"), call, name="agents", project=lambda row: row)
        return {**found, "items": _items(found["items"], call)}

    @operation(
        Operation("agents_create", TAG, Effect.WRITE, status=201, body=AgentBody, key=Key.HONOURED),
        summary="Create a private agent.",
        answer=AgentVersionId,
    )
    def post(self, call: Call) -> Any:
        return written(versions.create(actor=call.member, content=call.body["content"]))


class OneAgent(Door):
    """One agent."""

    @operation(
        Operation("agents_read", TAG, Effect.READ),
        summary="Read an agent.",
        answer=AgentDetail,
    )
    def get(self, call: Call, agent_id: UUID) -> Any:
        agent = library.agents(call.member).filter(id=agent_id).first()
        if agent is None:
            raise NotFound()
        readable = Agent.objects.readable_by(call.member).filter(id=agent_id).exists()
        content = versions.newest(agent).content if readable else None
        return {**_items([agent], call)[0], "content": content}

    @operation(
        Operation("agents_update", TAG, Effect.WRITE, body=AgentChange),
        summary="Append a version to an agent.",
        answer=AgentVersionId,
    )
    def put(self, call: Call, agent_id: UUID) -> Any:
        return written(versions.append(actor=call.member, agent_id=agent_id, **call.body))

    @operation(
        Operation("agents_delete", TAG, Effect.WRITE, status=204),
        summary="Delete an agent of one's own; its history stays.",
        answer=None,
    )
    def delete(self, call: Call, agent_id: UUID) -> Any:
        versions.delete(actor=call.member, agent_id=agent_id)


class AgentCopies(Door):
    """Copies of an agent."""

    @operation(
        Operation(
            "agents_duplicate",
            TAG,
            Effect.WRITE,
            status=201,
            body=AgentCopyBody,
            key=Key.HONOURED,
        ),
        summary="Copy an agent's newest definition into a private agent of one's own.",
        answer=AgentVersionId,
    )
    def post(self, call: Call, agent_id: UUID) -> Any:
        return written(
            versions.duplicate(actor=call.member, agent_id=agent_id, name=call.body.get("name"))
        )


def written(version: AgentVersion) -> dict[str, Any]:
    """The version just written, as answers name it."""
    return {"id": str(version.agent_id), "version": version.number}


def _items(agents: Sequence[Agent], call: Call) -> list[dict[str, Any]]:
    return [_item(card, call) for card in library.cards(call.member, agents)]


def _item(card: Card, call: Call) -> dict[str, Any]:
    agent = card.agent
    return {
        "id": str(agent.id),
        "version": agent.head,
        "name": agent.name,
        "description": agent.description,
        "mode": agent.mode,
        "audience": agent.audience,
        "protected": agent.protected,
        "owned": agent.owner_id == call.member.pk,
        "owner_name": card.owner_name,
        "tools": list(card.tools),
        "package_count": card.package_count,
        "collection_count": card.collection_count,
        "prompt_count": card.prompt_count,
        "sharing": str(card.sharing),
        "may": asdict(card.may),
        "created_at": agent.created_at.isoformat(),
        "updated_at": agent.updated_at.isoformat(),
    }

"""Agents: create, list, read, change by appending versions, compare versions, delete.

Whoever may use an agent sees its name, description and mode. Its definition and versions are for
those who may copy or edit it; changing and deleting are refused with 403 to people who see the
agent and may not, with 404 to everybody else.
"""

from dataclasses import asdict
from typing import Any, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agents.api.fields import Anything, Id, Strict, Text, Whole, many
from agents.api.operations import Call, Door, Effect, Key, Operation, operation
from agents.api.pages import BY_NUMBER, newest_first, page
from agents.api.shapes import Paging, page_of
from agents.definitions import differences, versions
from agents.definitions.content import (
    DESCRIPTION_CHARACTERS,
    MAX_REFERENCES,
    NAME_CHARACTERS,
    PERSONA_CHARACTERS,
)
from agents.definitions.models import Agent, AgentVersion, Audience, Ceiling, Mode
from agents.definitions.querysets import AgentQuerySet
from audit.reasons import Reason
from audit.refusals import NotFound, Refusal

TAG: Final = "agents"
DIFF_LINES: Final = 2 * int(PERSONA_CHARACTERS)  # a line has at least its end
REFERENCE: Final = {"type": "string", "maxLength": 100}
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


class AgentItem(AgentVersionId):
    """An agent in a list."""

    name = Text(int(NAME_CHARACTERS))
    description = Text(int(DESCRIPTION_CHARACTERS), allow_blank=True)
    mode = serializers.ChoiceField(choices=Mode.values)
    audience = serializers.ChoiceField(choices=Audience.values)
    protected = serializers.BooleanField()
    owned = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class AgentDetail(AgentItem):
    """One agent; `content` is null for those who may only use it."""

    content = AgentContent(allow_null=True)


class AgentQuery(Paging):
    """Filters: by mode, by words of name or description."""

    mode = serializers.ChoiceField(choices=Mode.values, required=False)
    q = serializers.CharField(required=False, max_length=200)


class AgentVersionItem(serializers.Serializer[Any]):
    """One version in a list."""

    number = Whole(**VERSION)
    digest = Text(71)
    author = Text(100)
    created_at = serializers.DateTimeField()


class AgentVersionDetail(AgentVersionItem):
    """One version with its definition."""

    content = AgentContent()


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "maxLength": int(PERSONA_CHARACTERS)},
            {"type": "object", "maxProperties": 200, "additionalProperties": True},
            {"type": "array", "maxItems": int(MAX_REFERENCES), "items": REFERENCE},
        ],
    }
)
class ContentValue(serializers.JSONField):
    """One field of a definition, whatever its type."""


class AgentDifference(serializers.Serializer[Any]):
    """One field that differs; `lines` is a unified diff where both sides are text."""

    field = Text(100)
    before = ContentValue(allow_null=True)
    after = ContentValue(allow_null=True)
    lines = serializers.ListField(child=Text(int(PERSONA_CHARACTERS)), max_length=DIFF_LINES)


class AgentDiff(serializers.Serializer[Any]):
    """What changed from one version to another."""

    changes = many(AgentDifference(), 50)


class Agents(Door):
    """All agents the caller may use."""

    @operation(
        Operation("agents_list", TAG, Effect.READ, query=AgentQuery),
        summary="List the agents one may use.",
        answer=page_of(AgentItem),
    )
    def get(self, call: Call) -> Any:
        rows = Agent.objects.visible_to(call.member)
        if "mode" in call.query:
            rows = rows.filter(mode=call.query["mode"])
        if "q" in call.query:
            rows = rows.matching(call.query["q"])
        return page(
            rows,
            newest_first("updated_at"),
            call,
            name="agents",
            project=lambda row: _item(row, call),
        )

    @operation(
        Operation("agents_create", TAG, Effect.WRITE, status=201, body=AgentBody, key=Key.HONOURED),
        summary="Create a private agent.",
        answer=AgentVersionId,
    )
    def post(self, call: Call) -> Any:
        return _written(versions.create(actor=call.member, content=call.body["content"]))


class OneAgent(Door):
    """One agent."""

    @operation(
        Operation("agents_read", TAG, Effect.READ),
        summary="Read an agent.",
        answer=AgentDetail,
    )
    def get(self, call: Call, agent_id: UUID) -> Any:
        agent = _visible(call, agent_id)
        readable = _is_in(Agent.objects.readable_by(call.member), agent_id)
        content = versions.newest(agent).content if readable else None
        return {**_item(agent, call), "content": content}

    @operation(
        Operation("agents_update", TAG, Effect.WRITE, body=AgentChange),
        summary="Append a version to an agent.",
        answer=AgentVersionId,
    )
    def put(self, call: Call, agent_id: UUID) -> Any:
        _visible(call, agent_id)
        _require(_is_in(Agent.objects.editable_by(call.member), agent_id))
        return _written(versions.append(actor=call.member, agent_id=agent_id, **call.body))

    @operation(
        Operation("agents_delete", TAG, Effect.WRITE, status=204),
        summary="Delete an agent of one's own; its history stays.",
        answer=None,
    )
    def delete(self, call: Call, agent_id: UUID) -> Any:
        _visible(call, agent_id)
        _require(_is_in(Agent.objects.owned_by(call.member), agent_id))
        versions.delete(actor=call.member, agent_id=agent_id)


class AgentVersions(Door):
    """All versions of an agent."""

    @operation(
        Operation("agent_versions_list", TAG, Effect.READ, query=Paging),
        summary="List an agent's versions, the newest first.",
        answer=page_of(AgentVersionItem),
    )
    def get(self, call: Call, agent_id: UUID) -> Any:
        rows = _versions(call, agent_id)
        name = f"versions:{agent_id}"
        return page(rows, BY_NUMBER, call, name=name, project=_version)


class OneAgentVersion(Door):
    """One version of an agent."""

    @operation(
        Operation("agent_versions_read", TAG, Effect.READ),
        summary="Read one version of an agent.",
        answer=AgentVersionDetail,
    )
    def get(self, call: Call, agent_id: UUID, number: int) -> Any:
        found = _one(_versions(call, agent_id), number)
        return {**_version(found), "content": found.content}


class AgentVersionDiff(Door):
    """Two versions side by side."""

    @operation(
        Operation("agent_versions_diff", TAG, Effect.READ),
        summary="What changed between two versions of an agent.",
        answer=AgentDiff,
    )
    def get(self, call: Call, agent_id: UUID, number: int, other: int) -> Any:
        rows = _versions(call, agent_id)
        before, after = _one(rows, number), _one(rows, other)
        changes = differences.between(before.content, after.content)
        return {"changes": [asdict(change) for change in changes]}


def _visible(call: Call, agent_id: UUID) -> Agent:
    found: Agent | None = Agent.objects.visible_to(call.member).filter(id=agent_id).first()
    if found is None:
        raise NotFound()
    return found


def _versions(call: Call, agent_id: UUID) -> Any:
    """The versions of an agent whose definition the caller may read."""
    _visible(call, agent_id)
    _require(_is_in(Agent.objects.readable_by(call.member), agent_id))
    return AgentVersion.objects.visible_to(call.member).filter(agent_id=agent_id)


def _one(rows: Any, number: int) -> AgentVersion:
    found: AgentVersion | None = rows.filter(number=number).first()
    if found is None:
        raise NotFound()
    return found


def _is_in(rows: AgentQuerySet, agent_id: UUID) -> bool:
    return rows.filter(id=agent_id).exists()


def _require(allowed: bool) -> None:
    if not allowed:
        raise Refusal(Reason.FORBIDDEN, "You may use this agent, but not do this with it.")


def _written(version: AgentVersion) -> dict[str, Any]:
    return {"id": str(version.agent_id), "version": version.number}


def _item(agent: Agent, call: Call) -> dict[str, Any]:
    return {
        "id": str(agent.id),
        "version": agent.head,
        "name": agent.name,
        "description": agent.description,
        "mode": agent.mode,
        "audience": agent.audience,
        "protected": agent.protected,
        "owned": agent.owner_id == call.member.pk,
        "created_at": agent.created_at.isoformat(),
        "updated_at": agent.updated_at.isoformat(),
    }


def _version(version: AgentVersion) -> dict[str, Any]:
    return {
        "number": version.number,
        "digest": version.digest,
        "author": version.author_principal,
        "created_at": version.created_at.isoformat(),
    }

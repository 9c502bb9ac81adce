"""An agent's versions: list, read, compare, and go back by appending an earlier one again.

They are for those who may copy or edit the agent; going back is a change of it, like any edit.
"""

from typing import Any, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agents.api.agents import TAG, VERSION, AgentContent, AgentVersionId, written
from agents.api.fields import Strict, Text, Whole, many
from agents.api.operations import Call, Door, Effect, Key, Operation, operation
from agents.api.pages import BY_NUMBER, page
from agents.api.shapes import Paging, page_of
from agents.definitions import differences, versions
from agents.definitions.content import MAX_REFERENCES, PERSONA_CHARACTERS
from agents.definitions.models import Agent, AgentVersion
from audit.refusals import NotFound

DIFF_LINES: Final = 2 * int(PERSONA_CHARACTERS)  # a line has at least its end
STRETCHES: Final = 2 * int(PERSONA_CHARACTERS)  # and a stretch at least one character
REFERENCE: Final = {"type": "string", "maxLength": 100}


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


@extend_schema_field(
    {
        "type": "array",
        "items": {"type": "string", "maxLength": int(PERSONA_CHARACTERS)},
        "minItems": 2,
        "maxItems": 2,
        "description": "`=`, `-` or `+`, and the words.",
    }
)
class MarkedWords(serializers.JSONField):
    """One stretch of words of a difference."""


class AgentDifference(serializers.Serializer[Any]):
    """One field that differs. Where both sides are text, `lines` is a unified diff, and `words` is
    the whole of both, word by word: the stretches `=` and `-` make the one before, `=` and `+` the
    one after.
    """

    field = Text(100)
    before = ContentValue(allow_null=True)
    after = ContentValue(allow_null=True)
    lines = serializers.ListField(child=Text(int(PERSONA_CHARACTERS)), max_length=DIFF_LINES)
    words = serializers.ListField(child=MarkedWords(), max_length=STRETCHES)


class AgentDiff(serializers.Serializer[Any]):
    """What changed from one version to another."""

    changes = many(AgentDifference(), 50)


class AgentRestore(Strict):
    """Which version's content becomes the next version."""

    version = Whole(**VERSION)
    expected_version = Whole(**VERSION)


class AgentRollback(Strict):
    """The version to undo, which must still be the newest."""

    expected_version = Whole(**VERSION)


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
        return {"changes": differences.told(before.content, after.content)}


class AgentRestoring(Door):
    """An earlier version made the newest again."""

    @operation(
        Operation("agents_restore", TAG, Effect.WRITE, body=AgentRestore, key=Key.HONOURED),
        summary="Append a version with the content of an earlier one.",
        answer=AgentVersionId,
    )
    def post(self, call: Call, agent_id: UUID) -> Any:
        return written(versions.restore(actor=call.member, agent_id=agent_id, **call.body))


class AgentRollingBack(Door):
    """The newest change undone."""

    @operation(
        Operation("agents_rollback", TAG, Effect.WRITE, body=AgentRollback, key=Key.HONOURED),
        summary="Append a version with the content of the one before the newest.",
        answer=AgentVersionId,
    )
    def post(self, call: Call, agent_id: UUID) -> Any:
        return written(versions.rollback(actor=call.member, agent_id=agent_id, **call.body))


def _versions(call: Call, agent_id: UUID) -> Any:
    """The versions of an agent whose definition the caller may read."""
    if not Agent.objects.readable_by(call.member).filter(id=agent_id).exists():
        raise versions.unreachable(call.member, agent_id, "read its definition")
    return AgentVersion.objects.visible_to(call.member).filter(agent_id=agent_id)


def _one(rows: Any, number: int) -> AgentVersion:
    found: AgentVersion | None = rows.filter(number=number).first()
    if found is None:
        raise NotFound()
    return found


def _version(version: AgentVersion) -> dict[str, Any]:
    return {
        "number": version.number,
        "digest": version.digest,
        "author": version.author_principal,
        "created_at": version.created_at.isoformat(),
    }

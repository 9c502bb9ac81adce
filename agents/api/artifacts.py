"""Artifacts: list, read, compare versions, write, edit by hunks, restore, download, delete.

Whoever may read an artifact sees all its versions. Writing is refused with 403 to people who may
only read it, with 404 to everybody else, and goes through the one writer that agents go through.
"""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agents.api import authors, renderables
from agents.api.authors import Author
from agents.api.fields import Id, Lenient, Strict, Text, Whole, many
from agents.api.operations import Call, Door, Effect, Key, Operation, operation
from agents.api.pages import BY_NUMBER, newest_first, page
from agents.api.renderables import ShownRenderable
from agents.api.renderers import FileRenderer, JSONRenderer
from agents.api.shapes import Paging, page_of
from agents.conversations.models import Conversation
from artifacts import comparing, reading, writing
from artifacts.editing import HUNK_LINES, HUNKS, Hunk
from artifacts.kinds.content import (
    CONTENT_CHARACTERS,
    LANGUAGE_CHARACTERS,
    TITLE_CHARACTERS,
    WRITABLE,
    Kind,
)
from artifacts.models import TAG_CHARACTERS, Artifact, ArtifactVersion
from artifacts.renderable.envelope import ENVELOPE_BYTES
from audit.reasons import Reason
from audit.refusals import Invalid

TAG: Final = "artifacts"
VERSION: Final = {"minimum": 1, "maximum": 999_999_999}
LINE: Final = {"maximum": 1_000_000}
DIFF_LINES: Final = 2 * int(CONTENT_CHARACTERS) + 2  # a line has at least its end
SAVED: Final = "attachment"
# A file is saved, never shown; should a browser show it after all, it can do nothing.
FILE_POLICY: Final = "default-src 'none'; sandbox"


@extend_schema_field(
    {
        "type": "array",
        "items": {"type": "string", "maxLength": int(CONTENT_CHARACTERS)},
        "minItems": 2,
        "maxItems": 2,
        "description": "`=`, `-` or `+`, and the line without its LF.",
    }
)
class MarkedLine(serializers.JSONField):
    """One line of a difference."""


class ArtifactItem(serializers.Serializer[Any]):
    """An artifact in a list; `version` is the newest."""

    id = Id()
    title = Text(int(TITLE_CHARACTERS))
    kind = serializers.ChoiceField(choices=sorted(Kind))
    version = Whole(**VERSION)
    conversation_id = Id(allow_null=True)
    owned = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class ArtifactVersionItem(serializers.Serializer[Any]):
    """One version without its content."""

    number = Whole(**VERSION)
    language = Text(int(LANGUAGE_CHARACTERS), allow_blank=True)
    digest = Text(71)
    author = Author()
    created_at = serializers.DateTimeField()


class ArtifactVersionDetail(ArtifactVersionItem):
    """One version with its content; edits name it by its `tag`. `renderable` is how an artifact of
    that kind is shown, and null for every other kind.
    """

    tag = Text(TAG_CHARACTERS)
    content = Text(int(ENVELOPE_BYTES), allow_blank=True)
    renderable = ShownRenderable(allow_null=True)


class ArtifactMay(serializers.Serializer[Any]):
    """What the caller may do with an artifact besides reading it."""

    edit = serializers.BooleanField()
    delete = serializers.BooleanField()


class ArtifactDetail(ArtifactItem):
    """One artifact with its newest version."""

    newest = ArtifactVersionDetail()
    may = ArtifactMay()


class ArtifactDiff(serializers.Serializer[Any]):
    """Every line of both versions. `final_newline`: whether each version ends with a line end."""

    lines = serializers.ListField(child=MarkedLine(), max_length=DIFF_LINES)
    final_newline = serializers.ListField(
        child=serializers.BooleanField(), min_length=2, max_length=2
    )


class ArtifactWritten(serializers.Serializer[Any]):
    """The version just written; an edit of it names it by number and tag."""

    id = Id()
    version = Whole(**VERSION)
    tag = Text(TAG_CHARACTERS)
    digest = Text(71)


class ArtifactBody(Strict):
    """A new artifact. `language` is for code; a graph's content is its JSON document."""

    title = Text(int(TITLE_CHARACTERS))
    kind = serializers.ChoiceField(choices=sorted(Kind))
    language = Text(int(LANGUAGE_CHARACTERS), required=False, allow_blank=True)
    content = Text(int(CONTENT_CHARACTERS), allow_blank=True)
    conversation_id = Id(required=False, allow_null=True)


class ArtifactChange(Strict):
    """The whole content of the next version; `expected_version` is the one it was made from."""

    content = Text(int(CONTENT_CHARACTERS), allow_blank=True)
    expected_version = Whole(**VERSION)
    language = Text(int(LANGUAGE_CHARACTERS), required=False, allow_blank=True)


class ArtifactHunk(Strict):
    """One change, in lines of the base version counted from 1.

    PUT with `first` and `last` replaces these lines, both included; PUT with `after` (0 for the
    beginning) adds lines behind that one; CUT with `first` and `last` takes lines out. An entry of
    `lines` is one line without its line end.
    """

    op = serializers.ChoiceField(choices=["PUT", "CUT"])
    first = Whole(1, **LINE, required=False)
    last = Whole(1, **LINE, required=False)
    after = Whole(0, **LINE, required=False)
    lines = serializers.ListField(
        child=Text(int(CONTENT_CHARACTERS), allow_blank=True),
        required=False,
        max_length=int(HUNK_LINES),
    )


class ArtifactEdit(Strict):
    """Hunks that do not overlap, all against one exact version that must still be the newest."""

    base_version = Whole(**VERSION)
    tag = Text(TAG_CHARACTERS)
    hunks = many(ArtifactHunk(), int(HUNKS))


class ArtifactRestore(Strict):
    """Which version's content becomes the next version."""

    version = Whole(**VERSION)
    expected_version = Whole(**VERSION)


class ArtifactQuery(Paging):
    """Filters: by conversation, by kind, by words of the title."""

    conversation_id = serializers.UUIDField(required=False)
    kind = serializers.ChoiceField(choices=sorted(Kind), required=False)
    q = serializers.CharField(required=False, max_length=200)


class DownloadQuery(Lenient):
    """Which version; the newest where none is named."""

    version = serializers.IntegerField(required=False, min_value=1, max_value=999_999_999)


class Artifacts(Door):
    """All artifacts the caller may see."""

    @operation(
        Operation("artifacts_list", TAG, Effect.READ, query=ArtifactQuery),
        summary="List the artifacts one may see, the last changed first.",
        answer=page_of(ArtifactItem),
    )
    def get(self, call: Call) -> Any:
        rows = reading.visible(
            call.member,
            conversation_id=call.query.get("conversation_id"),
            text=call.query.get("q", ""),
            kind=call.query.get("kind", ""),
        )
        return page(
            rows,
            newest_first("updated_at"),
            call,
            name="artifacts",
            project=lambda row: _item(row, call),
        )

    @operation(
        Operation(
            "artifacts_create", TAG, Effect.WRITE, status=201, body=ArtifactBody, key=Key.HONOURED
        ),
        summary="Keep a new artifact.",
        answer=ArtifactWritten,
    )
    def post(self, call: Call) -> Any:
        conversation_id = call.body.get("conversation_id")
        mine = Conversation.objects.visible_to(call.member)
        if conversation_id is not None and not mine.filter(id=conversation_id).exists():
            raise Invalid([{"field": "conversation_id", "reason": str(Reason.NOT_FOUND)}])
        draft = writing.Draft(
            title=call.body["title"],
            kind=call.body["kind"],
            content=call.body["content"],
            language=call.body.get("language", ""),
        )
        return _written(
            writing.create(actor=call.member, draft=draft, conversation_id=conversation_id)
        )


class OneArtifact(Door):
    """One artifact."""

    @operation(
        Operation("artifacts_read", TAG, Effect.READ),
        summary="Read an artifact and its newest version.",
        answer=ArtifactDetail,
    )
    def get(self, call: Call, artifact_id: UUID) -> Any:
        newest = reading.version(call.member, artifact_id)
        item = _item(newest.artifact, call)
        may_edit = (
            newest.artifact.kind in WRITABLE
            and Artifact.objects.editable_by(call.member).filter(id=artifact_id).exists()
        )
        return {
            **item,
            "newest": _whole(newest, call),
            "may": {"edit": may_edit, "delete": item["owned"]},
        }

    @operation(
        Operation("artifacts_update", TAG, Effect.WRITE, body=ArtifactChange),
        summary="Write the whole content of an artifact's next version.",
        answer=ArtifactWritten,
    )
    def put(self, call: Call, artifact_id: UUID) -> Any:
        return _written(writing.update(actor=call.member, artifact_id=artifact_id, **call.body))

    @operation(
        Operation("artifacts_delete", TAG, Effect.WRITE, status=204),
        summary="Delete an artifact of one's own.",
        answer=None,
    )
    def delete(self, call: Call, artifact_id: UUID) -> Any:
        writing.delete(actor=call.member, artifact_id=artifact_id)


class ArtifactEdits(Door):
    """Changes of parts of an artifact."""

    @operation(
        Operation("artifacts_edit", TAG, Effect.WRITE, body=ArtifactEdit, key=Key.HONOURED),
        summary="Change lines of an exact version; the result is the next version.",
        answer=ArtifactWritten,
    )
    def post(self, call: Call, artifact_id: UUID) -> Any:
        hunks = [
            Hunk(**{**hunk, "lines": tuple(hunk.get("lines", ()))}) for hunk in call.body["hunks"]
        ]
        return _written(
            writing.edit(
                actor=call.member,
                artifact_id=artifact_id,
                base_version=call.body["base_version"],
                tag=call.body["tag"],
                hunks=hunks,
            )
        )


class ArtifactRestoring(Door):
    """An earlier version made the newest again."""

    @operation(
        Operation("artifacts_restore", TAG, Effect.WRITE, body=ArtifactRestore, key=Key.HONOURED),
        summary="Append a version with the content of an earlier one.",
        answer=ArtifactWritten,
    )
    def post(self, call: Call, artifact_id: UUID) -> Any:
        return _written(writing.restore(actor=call.member, artifact_id=artifact_id, **call.body))


class ArtifactVersions(Door):
    """All versions of an artifact."""

    @operation(
        Operation("artifact_versions_list", TAG, Effect.READ, query=Paging),
        summary="List an artifact's versions, the newest first.",
        answer=page_of(ArtifactVersionItem),
    )
    def get(self, call: Call, artifact_id: UUID) -> Any:
        rows = reading.versions(call.member, artifact_id)
        name = f"artifact-versions:{artifact_id}"
        found = page(rows, BY_NUMBER, call, name=name, project=lambda row: row)
        return {**found, "items": _versions(found["items"], call)}


class OneArtifactVersion(Door):
    """One version of an artifact."""

    @operation(
        Operation("artifact_versions_read", TAG, Effect.READ),
        summary="Read one version of an artifact.",
        answer=ArtifactVersionDetail,
    )
    def get(self, call: Call, artifact_id: UUID, number: int) -> Any:
        return _whole(reading.version(call.member, artifact_id, number), call)


class ArtifactVersionDiff(Door):
    """Two versions of an artifact side by side."""

    @operation(
        Operation("artifact_versions_diff", TAG, Effect.READ),
        summary="What changed between two versions of an artifact, line by line.",
        answer=ArtifactDiff,
    )
    def get(self, call: Call, artifact_id: UUID, number: int, other: int) -> Any:
        texts = [reading.version(call.member, artifact_id, at).content for at in (number, other)]
        return {
            "lines": comparing.marked(*texts),
            "final_newline": [text.endswith("\n") for text in texts],
        }


class ArtifactDownload(Door):
    """An artifact as a file."""

    renderer_classes = [FileRenderer, JSONRenderer]

    @operation(
        Operation(
            "artifacts_download",
            TAG,
            Effect.READ,
            query=DownloadQuery,
            media_type="application/octet-stream",
        ),
        summary="Download the exact content of a version.",
        answer=OpenApiTypes.BINARY,
    )
    def get(self, call: Call, artifact_id: UUID) -> HttpResponse:
        found = reading.version(call.member, artifact_id, call.query.get("version"))
        file = reading.download(found)
        response = HttpResponse(file.body, content_type=file.media_type)
        response["Content-Disposition"] = (
            content_disposition_header(True, file.name) or "attachment"
        )
        response["Content-Security-Policy"] = FILE_POLICY
        response["Cache-Control"] = "no-store"
        return response


def _item(artifact: Artifact, call: Call) -> dict[str, Any]:
    return {
        "id": str(artifact.id),
        "title": artifact.title,
        "kind": artifact.kind,
        "version": artifact.head,
        "conversation_id": artifact.conversation_id and str(artifact.conversation_id),
        "owned": artifact.owner_id == call.member.pk,
        "created_at": artifact.created_at.isoformat(),
        "updated_at": artifact.updated_at.isoformat(),
    }


def _versions(versions: Sequence[ArtifactVersion], call: Call) -> list[dict[str, Any]]:
    names = authors.named((version.author_principal for version in versions), call.member)
    return [
        {
            "number": version.number,
            "language": version.language,
            "digest": version.digest,
            "author": names[version.author_principal],
            "created_at": version.created_at.isoformat(),
        }
        for version in versions
    ]


def _whole(version: ArtifactVersion, call: Call) -> dict[str, Any]:
    (item,) = _versions([version], call)
    return {
        **item,
        "tag": version.tag,
        "content": version.content,
        "renderable": renderables.shown(version),
    }


def _written(version: ArtifactVersion) -> dict[str, Any]:
    return {
        "id": str(version.artifact_id),
        "version": version.number,
        "tag": version.tag,
        "digest": version.digest,
    }

"""Artifacts: list, read, read exact versions, download. Writing belongs to their one writer."""

from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers

from agents.api.fields import Id, Lenient, Text, Whole
from agents.api.operations import Call, Door, Effect, Operation, operation
from agents.api.pages import BY_NUMBER, newest_first, page
from agents.api.renderers import FileRenderer, JSONRenderer
from agents.api.shapes import Paging, page_of
from artifacts import reading
from artifacts.kinds.content import (
    CONTENT_CHARACTERS,
    LANGUAGE_CHARACTERS,
    TITLE_CHARACTERS,
    Kind,
)
from artifacts.models import Artifact, ArtifactVersion

TAG: Final = "artifacts"
VERSION: Final = {"minimum": 1, "maximum": 999_999_999}
SAVED: Final = "attachment"
# A file is saved, never shown; should a browser show it after all, it can do nothing.
FILE_POLICY: Final = "default-src 'none'; sandbox"


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
    author = Text(100)
    created_at = serializers.DateTimeField()


class ArtifactVersionDetail(ArtifactVersionItem):
    """One version with its content; edits name it by its `tag`."""

    tag = Text(80)
    content = Text(int(CONTENT_CHARACTERS), allow_blank=True)


class ArtifactDetail(ArtifactItem):
    """One artifact with its newest version."""

    newest = ArtifactVersionDetail()


class ArtifactQuery(Paging):
    """Filters: by conversation, by words of the title."""

    conversation = serializers.UUIDField(required=False)
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
            conversation_id=call.query.get("conversation"),
            text=call.query.get("q", ""),
        )
        return page(
            rows,
            newest_first("updated_at"),
            call,
            name="artifacts",
            project=lambda row: _item(row, call),
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
        return {**_item(newest.artifact, call), "newest": _whole(newest)}


class ArtifactVersions(Door):
    """All versions of an artifact."""

    @operation(
        Operation("artifact_versions_list", TAG, Effect.READ, query=Paging),
        summary="List an artifact's versions, the newest first.",
        answer=page_of(ArtifactVersionItem),
    )
    def get(self, call: Call, artifact_id: UUID) -> Any:
        rows = reading.versions(call.member, artifact_id)
        return page(
            rows, BY_NUMBER, call, name=f"artifact-versions:{artifact_id}", project=_version
        )


class OneArtifactVersion(Door):
    """One version of an artifact."""

    @operation(
        Operation("artifact_versions_read", TAG, Effect.READ),
        summary="Read one version of an artifact.",
        answer=ArtifactVersionDetail,
    )
    def get(self, call: Call, artifact_id: UUID, number: int) -> Any:
        return _whole(reading.version(call.member, artifact_id, number))


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


def _version(version: ArtifactVersion) -> dict[str, Any]:
    return {
        "number": version.number,
        "language": version.language,
        "digest": version.digest,
        "author": version.author_principal,
        "created_at": version.created_at.isoformat(),
    }


def _whole(version: ArtifactVersion) -> dict[str, Any]:
    return {**_version(version), "tag": version.tag, "content": version.content}

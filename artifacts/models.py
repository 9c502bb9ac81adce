"""Artifacts and their immutable versions."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Length, Now
from django.db.models.lookups import LessThanOrEqual
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase

from artifacts.kinds.content import (
    CONTENT_CHARACTERS,
    LANGUAGE_CHARACTERS,
    TITLE_CHARACTERS,
    Kind,
)
from artifacts.querysets import (
    ArtifactQuerySet,
    ArtifactVersionQuerySet,
    StagedArtifactQuerySet,
    StagedPartQuerySet,
)
from artifacts.renderable import attestation
from artifacts.renderable.envelope import ENVELOPE_BYTES

KIND_CHOICES = [(str(kind), kind.name.capitalize()) for kind in Kind]
TAG_CHARACTERS = 16  # hexadecimal digits; a slip of a reader is caught, and it is short to repeat


class StagedState(models.TextChoices):
    """open -> finished | discarded."""

    OPEN = "open"
    FINISHED = "finished"
    DISCARDED = "discarded"


class Artifact(models.Model):
    """An artifact's identity: the stable root its versions hang from. `head` is the newest.

    `conversation_id` is where it was made, or empty; no foreign key, as this layer does not know
    conversations. Title and kind are stated once for all versions. Deleted artifacts are hidden
    from everyone and keep their versions.
    """

    id = models.UUIDField(primary_key=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    title = models.CharField(max_length=TITLE_CHARACTERS)
    kind = models.CharField(max_length=12, choices=KIND_CHOICES)
    head = models.PositiveIntegerField(default=1)
    conversation_id = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = ArtifactQuerySet.as_manager()

    class Meta:
        permissions = [
            ("view_shared_artifact", "Can read the artifact"),
            ("edit_artifact", "Can read the artifact and write versions of it"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=[str(kind) for kind in Kind]),
                name="artifact_kind_is_known",
            ),
        ]
        indexes = [
            # artifacts of whomever, newest first: a reader of many meets the first ones early
            models.Index(
                fields=["-updated_at"],
                name="artifacts_by_change",
                condition=models.Q(deleted_at__isnull=True),
            ),
            # a person's own artifacts, newest first
            models.Index(
                fields=["owner", "-updated_at"],
                name="artifacts_of_owner",
                condition=models.Q(deleted_at__isnull=True),
            ),
            # what a conversation has made
            models.Index(
                fields=["conversation_id", "-updated_at"],
                name="artifacts_of_conversation",
                condition=models.Q(deleted_at__isnull=True),
            ),
        ]


class ArtifactVersion(models.Model):
    """One immutable version; the database refuses change and removal.

    `run_id` and `call_id` are set when a run wrote it: one call writes at most one version, ever.
    """

    id = models.UUIDField(primary_key=True)
    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    content = models.TextField()
    language = models.CharField(max_length=LANGUAGE_CHARACTERS, blank=True, default="")
    digest = models.CharField(max_length=71)
    author_principal = models.CharField(max_length=100)
    run_id = models.UUIDField(null=True)
    call_id = models.CharField(max_length=100, blank=True, default="")
    created_at = models.DateTimeField(db_default=Now())

    objects = ArtifactVersionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["artifact", "number"], name="one_artifact_version_per_number"
            ),
            models.UniqueConstraint(
                fields=["run_id", "call_id"],
                name="one_artifact_version_per_call",
                condition=models.Q(run_id__isnull=False),
            ),
            models.CheckConstraint(
                condition=models.Q(LessThanOrEqual(Length("content"), int(CONTENT_CHARACTERS)))
                | models.Q(
                    LessThanOrEqual(Length("content"), int(ENVELOPE_BYTES)),
                    language=attestation.LANGUAGE,
                ),
                name="artifact_content_is_bounded",
            ),
        ]

    @property
    def tag(self) -> str:
        """A short mark of exactly this content, which an edit must repeat."""
        return self.digest.removeprefix("sha256:")[:TAG_CHARACTERS]


class StagedArtifact(models.Model):
    """An artifact that a run writes part by part, until it is finished or given up.

    Not an artifact: nobody but the run reads it, and it goes with the run. `receipt` is that of the
    newest of `parts` parts; `made` the artifact it became. States: open -> finished | discarded.
    """

    id = models.UUIDField(primary_key=True)
    run_id = models.UUIDField()
    call_id = models.CharField(max_length=100)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    conversation_id = models.UUIDField(null=True, blank=True)
    title = models.CharField(max_length=TITLE_CHARACTERS)
    kind = models.CharField(max_length=12, choices=KIND_CHOICES)
    language = models.CharField(max_length=LANGUAGE_CHARACTERS, blank=True, default="")
    state = models.CharField(max_length=12, choices=StagedState.choices, default=StagedState.OPEN)
    parts = models.PositiveIntegerField(default=0)
    characters = models.PositiveIntegerField(default=0)
    receipt = models.CharField(max_length=TAG_CHARACTERS, blank=True, default="")
    made = models.ForeignKey(Artifact, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    objects = StagedArtifactQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run_id", "call_id"], name="one_staged_per_call"),
            models.CheckConstraint(
                condition=LessThanOrEqual(models.F("characters"), int(CONTENT_CHARACTERS)),
                name="staged_content_is_bounded",
            ),
        ]


class StagedPart(models.Model):
    """One part of a staged artifact, with the receipt that was given for it."""

    staged = models.ForeignKey(StagedArtifact, on_delete=models.CASCADE, related_name="+")
    ordinal = models.PositiveIntegerField()
    content = models.TextField()
    digest = models.CharField(max_length=71)
    receipt = models.CharField(max_length=TAG_CHARACTERS)
    created_at = models.DateTimeField(db_default=Now())

    objects = StagedPartQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["staged", "ordinal"], name="one_staged_part_per_place"),
        ]


class ArtifactUserObjectPermission(UserObjectPermissionBase):
    """A direct share of an artifact with one person."""

    content_object = models.ForeignKey(Artifact, on_delete=models.CASCADE)

    class Meta(UserObjectPermissionBase.Meta):
        # whether this artifact is shared with this person, whatever the right
        indexes = [models.Index(fields=["content_object", "user"], name="artifact_shares_of_one")]


class ArtifactGroupObjectPermission(GroupObjectPermissionBase):
    """A direct share of an artifact with a group, such as a shared room's."""

    content_object = models.ForeignKey(Artifact, on_delete=models.CASCADE)

    class Meta(GroupObjectPermissionBase.Meta):
        indexes = [models.Index(fields=["content_object", "group"], name="artifact_shares_of_many")]

"""Conversations and the inputs accepted into them."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from agents.conversations.querysets import ConversationQuerySet, InputQuerySet


class Conversation(models.Model):
    """One thread of a member with agents. Its journal stream has the same id.

    Deleting hides it at once; its journal stays as evidence until retention removes it.
    """

    id = models.UUIDField(primary_key=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    title = models.CharField(max_length=200, blank=True, default="")
    agent = models.ForeignKey(
        "definitions.Agent", null=True, on_delete=models.PROTECT, related_name="+"
    )
    read_position = models.BigIntegerField(default=0)
    pinned_at = models.DateTimeField(null=True)
    archived_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    active_at = models.DateTimeField(db_default=Now())

    objects = ConversationQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["owner", "-active_at"],
                name="conversations_of_owner",
                condition=models.Q(deleted_at__isnull=True),
            ),
        ]


class InputStatus(models.TextChoices):
    """queued -> active -> exactly one of the four ends."""

    QUEUED = "queued"
    ACTIVE = "active"
    COMPLETED = "completed"
    SALVAGED = "salvaged"
    FAILED = "failed"
    CANCELLED = "cancelled"


OPEN_STATUSES = (InputStatus.QUEUED, InputStatus.ACTIVE)


class Input(models.Model):
    """What a member asked, accepted once. `run_id` names the turn that works it."""

    id = models.UUIDField(primary_key=True)
    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="inputs")
    member = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    agent = models.ForeignKey("definitions.Agent", on_delete=models.PROTECT, related_name="+")
    deployment_id = models.UUIDField(null=True)
    message = models.TextField()
    idempotency_key = models.CharField(max_length=200)
    body_digest = models.CharField(max_length=71)
    run_id = models.UUIDField(unique=True)
    accepted_position = models.BigIntegerField()
    status = models.CharField(
        max_length=10, choices=InputStatus.choices, default=InputStatus.QUEUED
    )
    created_at = models.DateTimeField(db_default=Now())

    objects = InputQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["member", "conversation", "idempotency_key"], name="one_input_per_key"
            ),
        ]
        indexes = [
            models.Index(
                fields=["conversation", "accepted_position"],
                name="open_inputs_of_conversation",
                condition=models.Q(status__in=["queued", "active"]),
            ),
        ]

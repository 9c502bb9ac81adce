"""Conversations and the inputs accepted into them."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from agents.conversations.querysets import ConversationQuerySet, InputQuerySet, SteerQuerySet


class Conversation(models.Model):
    """One thread of a member with agents. Its journal stream has the same id.

    Deleting hides it at once; its journal stays as evidence until retention removes it. Inputs
    form a tree by `parent`; the active branch is the way from its root to `active_input`.
    """

    id = models.UUIDField(primary_key=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    title = models.CharField(max_length=200, blank=True, default="")
    agent = models.ForeignKey(
        "definitions.Agent", null=True, on_delete=models.PROTECT, related_name="+"
    )
    active_input = models.ForeignKey(
        "conversations.Input",
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
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


class InputKind(models.TextChoices):
    """A message is answered; a compaction sums up what was said before, and cannot be steered."""

    MESSAGE = "message"
    COMPACTION = "compaction"


class Input(models.Model):
    """What a member asked, accepted once. `run_id` names the turn that works it.

    `parent` is the input before it on its branch. `replaces` is set on an edit or a retry: the
    input whose sibling this one is; both stay.
    """

    id = models.UUIDField(primary_key=True)
    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="inputs")
    member = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    agent = models.ForeignKey("definitions.Agent", on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=10, choices=InputKind.choices, default=InputKind.MESSAGE)
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+")
    replaces = models.ForeignKey(
        "self", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
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


class SteerState(models.TextChoices):
    """pending -> claimed -> applied; pending or claimed -> rejected. Applied and rejected stay."""

    PENDING = "pending"
    CLAIMED = "claimed"
    APPLIED = "applied"
    REJECTED = "rejected"


class Steer(models.Model):
    """A message to a turn that is being worked, accepted once under its key.

    `number` orders the steers of a turn: it is the journal position of the acceptance. A worker
    claims a steer for a short while before it hands it over; `fence` says for which claim of the
    run. The words of the message are a member's, and nobody else's.
    """

    id = models.UUIDField(primary_key=True)
    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="steers")
    member = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    run_id = models.UUIDField()
    message = models.TextField()
    idempotency_key = models.CharField(max_length=250)
    body_digest = models.CharField(max_length=71)
    number = models.BigIntegerField(default=0)
    state = models.CharField(max_length=10, choices=SteerState.choices, default=SteerState.PENDING)
    reason = models.CharField(max_length=64, blank=True, default="")
    fence = models.BigIntegerField(default=0)
    claimed_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = SteerQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["member", "conversation", "idempotency_key"], name="one_steer_per_key"
            ),
        ]
        indexes = [
            models.Index(
                fields=["run_id"],
                name="open_steers_of_run",
                condition=models.Q(state__in=["pending", "claimed"]),
            ),
        ]

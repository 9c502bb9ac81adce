"""What people and administrators decide about tool calls: approvals, and a policy per family."""

from typing import Any, Final

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from tools.boundary.querysets import ApprovalQuerySet


class ApprovalState(models.TextChoices):
    """pending -> approved -> consumed, or one of the ends; unasked -> answered.

    An approved call may still expire or be superseded until it is consumed. A call of a run that
    nobody watches is unasked; once its member has answered, it is staged anew as another row.
    """

    UNASKED = "unasked"
    ANSWERED = "answered"
    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"
    CONSUMED = "consumed"


WAITING_STATES: Final = (ApprovalState.UNASKED, ApprovalState.PENDING)


class Approval(models.Model):
    """One exact call that waits, or waited, for its member's decision.

    `digest` binds the decision to tool, arguments, target version, agent version and member; the
    call runs only while the same digest comes out again. `fence` is that of the worker that used
    the approval, which happens once. `reason` is what the member wrote. Ids of runs, inputs,
    conversations and agents are plain values: this layer knows none of them.
    """

    id = models.UUIDField(primary_key=True)
    run_id = models.UUIDField()
    input_id = models.UUIDField()
    call_id = models.CharField(max_length=100)
    conversation_id = models.UUIDField()
    member = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    agent_id = models.UUIDField()
    agent_version = models.IntegerField()
    tool = models.CharField(max_length=100)
    label = models.CharField(max_length=200)
    effect = models.CharField(max_length=16)
    target = models.TextField(blank=True, default="")
    arguments = models.JSONField()
    digest = models.CharField(max_length=71)
    state = models.CharField(max_length=16, choices=ApprovalState.choices)
    reason = models.TextField(blank=True, default="")
    fence = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True)
    decided_at = models.DateTimeField(null=True)

    objects = ApprovalQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run_id", "call_id"],
                name="one_approval_per_call",
                condition=~models.Q(state="answered"),
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=ApprovalState.values), name="approval_state_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(effect__in=["write", "sensitive"]),
                name="approval_effect_is_known",
            ),
            # only a call nobody was asked about yet may wait for ever
            models.CheckConstraint(
                condition=models.Q(expires_at__isnull=False)
                | models.Q(state__in=["unasked", "answered", "withdrawn", "superseded"]),
                name="approval_expires",
            ),
        ]
        indexes = [
            # the sweep: questions whose time is over
            models.Index(
                fields=["expires_at"],
                name="pending_approvals",
                condition=models.Q(state="pending"),
            ),
            # a run that ends, or goes on when nothing more is asked
            models.Index(fields=["run_id"], name="approvals_of_run"),
            # the count beside the inbox, on every page
            models.Index(
                fields=["member"],
                name="undecided_approvals_of_member",
                condition=models.Q(decided_at__isnull=True),
            ),
            # a person's inbox, newest first
            models.Index(fields=["member", "-created_at"], name="approvals_of_member"),
        ]


class PolicyMode(models.TextChoices):
    """Whether the tools of a family may run, and whether their members are asked before."""

    ON = "on"
    OFF = "off"
    APPROVAL = "approval"


class FamilyPolicy(models.Model):
    """What an administrator decided about one family of tools. Without a row it is on.

    `approval` asks before each call that may change something; reading calls of the family go on
    unasked. Tools of the sensitive tier ask always, whatever this says, and `off` stays off.
    """

    family = models.CharField(max_length=64, primary_key=True)
    mode = models.CharField(max_length=16, choices=PolicyMode.choices)
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = "tool policy"
        verbose_name_plural = "tool policies"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(mode__in=PolicyMode.values), name="policy_mode_is_known"
            ),
        ]

    def __str__(self) -> str:
        return self.family

    @classmethod
    def switched_off(cls) -> models.QuerySet[Any, str]:
        """The families nobody may use, to be asked alone or inside another question."""
        return cls._default_manager.filter(mode=PolicyMode.OFF).values_list("family", flat=True)

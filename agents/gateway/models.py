"""Where models are reached, what they are used for, and every call that was made to one."""

import uuid
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now

from agents.gateway import addresses
from agents.gateway.events import FAILURES
from agents.gateway.querysets import DeploymentQuerySet, ModelCallQuerySet, ModelRoleQuerySet
from audit.reasons import ErrorClass

SMALLEST_CONTEXT_TOKENS = 512
LARGEST_CONTEXT_TOKENS = 10_000_000
ERROR_CLASSES = [str(kind) for kind in ErrorClass]
FAILURE_CODES = [str(code) for code in FAILURES]


class ToolCallMode(models.TextChoices):
    """How a deployment's server calls tools."""

    NATIVE = "native", "the server has tool calls of its own"
    CONSTRAINED = "constrained", "by JSON schema, for servers that only promise that"
    NONE = "none", "no tools are offered"


class Deployment(models.Model):
    """One model behind one OpenAI-compatible address (`https://…/v1` or `unix:///path.sock`).

    The secret itself is never stored: `secret_ref` names an environment variable, and it counts
    only while the address has the origin the reference was entered for (`secret_origin`).
    Deployments are disabled, not deleted, because calls refer to them.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=80, unique=True)
    base_url = models.CharField("address", max_length=500, validators=[addresses.validate])
    model = models.CharField("model name", max_length=200)
    secret_ref = models.CharField("secret", max_length=100, blank=True, default="")
    secret_origin = models.CharField(max_length=300, blank=True, default="", editable=False)
    tool_calls = models.CharField(
        max_length=12, choices=ToolCallMode.choices, default=ToolCallMode.NATIVE
    )
    context_window = models.PositiveIntegerField(
        default=32_768,
        validators=[
            MinValueValidator(SMALLEST_CONTEXT_TOKENS),
            MaxValueValidator(LARGEST_CONTEXT_TOKENS),
        ],
        help_text="Tokens the model reads at most, its answer included.",
    )
    max_output_tokens = models.PositiveIntegerField(
        default=4_096,
        validators=[MinValueValidator(16), MaxValueValidator(LARGEST_CONTEXT_TOKENS)],
        help_text="Tokens of one answer at most.",
    )
    inline_think_tags = models.BooleanField(
        default=False, help_text="Thinking comes between <think> tags inside the answer."
    )
    reasoning_starts_open = models.BooleanField(
        default=False, help_text="The server's template has already opened the first <think> tag."
    )
    is_trial = models.BooleanField(
        default=False, help_text="A small model that comes along; people are told so."
    )
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = DeploymentQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(tool_calls__in=ToolCallMode.values),
                name="deployment_tool_calls_known",
            ),
            models.CheckConstraint(
                condition=models.Q(max_output_tokens__lt=models.F("context_window")),
                name="deployment_answer_fits_context",
                violation_error_message="An answer must be shorter than what the model can read.",
            ),
            models.CheckConstraint(
                condition=models.Q(secret_ref="") | ~models.Q(secret_origin=""),
                name="deployment_secret_has_origin",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """A trailing slash would make another address of the same one."""
        self.base_url = self.base_url.strip().rstrip("/")

    def bind_secret(self, secret_ref: str) -> None:
        """Refer to a secret from now on, for the address's present origin and no other."""
        self.secret_ref = secret_ref
        self.secret_origin = addresses.origin(self.base_url) if secret_ref else ""


class Role(models.TextChoices):
    """What a deployment is used for when nobody names one."""

    CHAT = "chat", "conversations"
    EMBEDDING = "embedding", "search by meaning"


class ModelRole(models.Model):
    """Which deployment plays a role; a role without a row is played by none."""

    role = models.CharField(max_length=12, choices=Role.choices, unique=True)
    deployment = models.ForeignKey(Deployment, on_delete=models.PROTECT, related_name="roles")

    objects = ModelRoleQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="role_is_known")
        ]

    def __str__(self) -> str:
        return self.get_role_display()


class CallOutcome(models.TextChoices):
    """How a model call ended, or that the turn gave it up."""

    COMPLETE = "complete"
    TOOL_CALLS = "tool_calls"
    TRUNCATED = "truncated"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ModelCall(models.Model):
    """One request to a provider, however it ended; a repeated request is a call of its own.

    Written once and never changed. No prompt, answer or word of the provider is kept: ids,
    counts, times and codes only. `error_class` is the class and `failure` the exact code, both
    there exactly when the outcome is `failed`.
    """

    id = models.BigAutoField(primary_key=True)
    run_id = models.UUIDField(null=True)
    step = models.PositiveIntegerField(default=0)
    attempt = models.PositiveSmallIntegerField(default=1)
    member = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    agent_id = models.UUIDField(null=True)
    deployment = models.ForeignKey(Deployment, on_delete=models.PROTECT, related_name="+")
    model = models.CharField(max_length=200)
    outcome = models.CharField(max_length=12, choices=CallOutcome.choices)
    error_class = models.CharField(
        max_length=20, blank=True, default="", choices=[(name, name) for name in ERROR_CLASSES]
    )
    failure = models.CharField(
        max_length=40, blank=True, default="", choices=[(name, name) for name in FAILURE_CODES]
    )
    status = models.PositiveSmallIntegerField(null=True)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    reasoning_tokens = models.PositiveIntegerField(null=True)
    cached_tokens = models.PositiveIntegerField(null=True)
    first_token_ms = models.PositiveIntegerField(null=True)
    duration_ms = models.PositiveIntegerField(default=0)
    at = models.DateTimeField(db_default=Now())

    objects = ModelCallQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(outcome__in=CallOutcome.values), name="call_outcome_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(outcome=CallOutcome.FAILED, error_class__in=ERROR_CLASSES)
                & ~models.Q(failure="")
                | ~models.Q(outcome=CallOutcome.FAILED) & models.Q(error_class="", failure=""),
                name="call_failure_has_a_class",
            ),
        ]
        indexes = [
            # what one turn cost
            models.Index(fields=["run_id"], name="calls_of_run"),
            # what a person used, newest first
            models.Index(fields=["member", "-at"], name="calls_of_member"),
        ]

    def save(self, **options: Any) -> None:
        """Rows are only ever added; the table refuses everything else as well."""
        super().save(**{**options, "force_insert": True})

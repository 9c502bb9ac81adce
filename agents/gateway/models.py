"""Where models are reached, what they are used for, and every call that was made to one."""

import uuid
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now

from agents.gateway import addresses
from agents.gateway.events import FAILURES
from agents.gateway.querysets import (
    BudgetQuerySet,
    DeploymentQuerySet,
    ModelCallQuerySet,
    ModelRoleQuerySet,
)
from agents.members.models import Effort
from audit.reasons import ErrorClass

SMALLEST_CONTEXT_TOKENS = 512
LARGEST_CONTEXT_TOKENS = 10_000_000
LONGEST_CONNECT_S = 120
LONGEST_ANSWER_S = 3_600
ERROR_CLASSES = [str(kind) for kind in ErrorClass]
FAILURE_CODES = [str(code) for code in FAILURES]


class ToolCallMode(models.TextChoices):
    """How a deployment's server calls tools."""

    NATIVE = "native", "the server has tool calls of its own"
    CONSTRAINED = "constrained", "by JSON schema, for servers that only promise that"
    NONE = "none", "no tools are offered"


def price(what: str) -> Any:
    """A column for the money that a million tokens cost."""
    return models.DecimalField(
        what,
        max_digits=12,
        decimal_places=4,
        default=Decimal(0),
        validators=[MinValueValidator(Decimal(0))],
        help_text="Money for one million tokens.",
    )


def seconds(what: str, longest_s: int) -> Any:
    """A column for a time limit; without a value the product's own holds."""
    return models.PositiveIntegerField(
        f"seconds {what}",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(longest_s)],
        help_text="Empty for the usual limit.",
    )


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
    takes_effort = models.BooleanField(
        "takes a reasoning effort",
        default=False,
        help_text="The server understands `reasoning_effort`.",
    )
    default_effort = models.CharField(
        max_length=8,
        choices=Effort.choices,
        blank=True,
        default="",
        help_text="Asked for where neither the person nor the agent chose one.",
    )
    turn_tokens = models.PositiveIntegerField(
        "tokens of one turn",
        null=True,
        blank=True,
        validators=[MinValueValidator(256), MaxValueValidator(LARGEST_CONTEXT_TOKENS)],
        help_text="All model calls of one turn together; empty for no limit of its own.",
    )
    input_price = price("Price of input")
    cached_price = price("Price of cached input")
    output_price = price("Price of output")
    tls_verify = models.BooleanField(
        "check the certificate",
        default=True,
        help_text="Switch it off only for a server in your own network that you trust anyway.",
    )
    ca_bundle = models.CharField(
        "certificate authorities",
        max_length=100,
        blank=True,
        default="",
        help_text="The bundle that vouches for the server; empty for the usual authorities.",
    )
    connect_s = seconds("to connect", LONGEST_CONNECT_S)
    first_byte_s = seconds("for the first byte", LONGEST_ANSWER_S)
    idle_s = seconds("of silence in an answer", LONGEST_ANSWER_S)
    total_s = seconds("for a whole answer", LONGEST_ANSWER_S)
    fallback = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Answers instead while this deployment is switched off; empty for none.",
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
            models.CheckConstraint(
                condition=models.Q(default_effort__in=["", *Effort.values]),
                name="deployment_effort_known",
            ),
            models.CheckConstraint(
                condition=~models.Q(fallback=models.F("id")),
                name="deployment_is_not_its_own_fallback",
                violation_error_message="A deployment cannot stand in for itself.",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    # Whether any budget exists; known only of a row that was asked for in order to answer.
    is_budgeted = False

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


class Purpose(models.TextChoices):
    """What a model call was made for."""

    CHAT = "chat", "a step of an answer"
    COMPACTION = "compaction", "shortening a conversation"
    PLANNING = "planning", "planning work for several agents"
    TEST = "test", "the connection test"


class ModelCall(models.Model):
    """One request to a provider, however it ended; a repeated request is a call of its own.

    Written once and never changed. No prompt, answer or word of the provider is kept: ids,
    counts, times and codes only. `error_class` is the class and `failure` the exact code, both
    there exactly when the outcome is `failed`. The prices are the deployment's at the time of
    the call, in money for a million tokens; `cost` is in millionths of the unit of money, and
    empty where the provider reported no tokens.
    """

    id = models.BigAutoField(primary_key=True)
    run_id = models.UUIDField(null=True)
    conversation_id = models.UUIDField(null=True)
    purpose = models.CharField(max_length=12, choices=Purpose.choices, default=Purpose.CHAT)
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
    input_price = price("Price of input")
    cached_price = price("Price of cached input")
    output_price = price("Price of output")
    cost = models.BigIntegerField(null=True)
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
            models.CheckConstraint(
                condition=models.Q(purpose__in=Purpose.values), name="call_purpose_is_known"
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


class Unit(models.TextChoices):
    """What a budget counts."""

    TOKENS = "tokens", "tokens"
    MONEY = "money", "money"


class Period(models.TextChoices):
    """How often a budget renews, by the calendar of UTC."""

    DAY = "day", "each day"
    MONTH = "month", "each month"


class Budget(models.Model):
    """What one person, or all people of a group together, may use of models in a period.

    `amount`, `used` and `held` are tokens, or millionths of the unit of money. `held` is
    reserved for calls under way (`BudgetHold`). `used` and `held` count for the period that
    began at `period_start`; a later one starts from nothing. They change only in
    `agents.gateway.budgets`.
    """

    member = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        verbose_name="person",
    )
    group = models.ForeignKey(
        "auth.Group", null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    unit = models.CharField(max_length=6, choices=Unit.choices, default=Unit.TOKENS)
    period = models.CharField(max_length=5, choices=Period.choices, default=Period.MONTH)
    amount = models.BigIntegerField(validators=[MinValueValidator(0), MaxValueValidator(10**15)])
    enabled = models.BooleanField(default=True)
    period_start = models.DateField(db_default="1970-01-01", editable=False)
    used = models.BigIntegerField(default=0, editable=False)
    held = models.BigIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = BudgetQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(member__isnull=True, group__isnull=False)
                | models.Q(member__isnull=False, group__isnull=True),
                name="budget_is_of_a_person_or_a_group",
                violation_error_message="Choose either a person or a group.",
            ),
            models.CheckConstraint(
                condition=models.Q(unit__in=Unit.values, period__in=Period.values),
                name="budget_unit_and_period_known",
            ),
            models.CheckConstraint(
                condition=models.Q(amount__gte=0, used__gte=0, held__gte=0),
                name="budget_counts_up",
            ),
            models.UniqueConstraint(
                fields=["member", "unit", "period"],
                name="one_budget_of_a_kind_for_a_person",
                violation_error_message="This person has such a budget already.",
            ),
            models.UniqueConstraint(
                fields=["group", "unit", "period"],
                name="one_budget_of_a_kind_for_a_group",
                violation_error_message="This group has such a budget already.",
            ),
        ]

    def __str__(self) -> str:
        of = self.member if self.member_id else self.group
        return f"{of}: {self.get_unit_display()}, {self.get_period_display()}"


class BudgetHold(models.Model):
    """What one call under way has reserved of one budget.

    It lives as long as its holder: the claim of the run with this fence, or, for a call outside
    any run, until `expires_at`. `certain` is the part that is owed even when nobody learns what
    the call used: its input, once it was sent.
    """

    id = models.BigAutoField(primary_key=True)
    budget = models.ForeignKey(Budget, on_delete=models.CASCADE, related_name="holds")
    holder_id = models.UUIDField()
    fence = models.BigIntegerField(null=True)
    amount = models.BigIntegerField()
    certain = models.BigIntegerField()
    period_start = models.DateField()
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["holder_id"], name="holds_of_holder")]

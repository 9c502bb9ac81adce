"""Deployments and their roles in the administration; model calls to look at."""

from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST

from agents.gateway import addresses, budgets, certificates, deployments, probe, secrets
from agents.gateway.connection import MILLIONTHS
from agents.gateway.models import Budget, Deployment, ModelCall, ModelRole, Role, Unit
from agents.members.models import Member

NO_SECRET = "— none —"
USUAL_AUTHORITIES = "— the usual ones —"


class DeploymentForm(forms.ModelForm):  # type: ignore[type-arg]  # takes no parameter at run time
    """The secret is picked by its name; its value is nowhere in the administration."""

    secret_ref = forms.ChoiceField(label="Secret", required=False)
    ca_bundle = forms.ChoiceField(label="Certificate authorities", required=False)
    confirm_secret = forms.BooleanField(
        label="Use this secret for the address above",
        required=False,
        help_text="Needed again whenever the scheme, host or port of the address changes.",
    )

    class Meta:
        model = Deployment
        fields = (
            "name",
            "base_url",
            "model",
            "secret_ref",
            "tool_calls",
            "context_window",
            "max_output_tokens",
            "inline_think_tags",
            "reasoning_starts_open",
            "takes_effort",
            "default_effort",
            "turn_tokens",
            "input_price",
            "cached_price",
            "output_price",
            "tls_verify",
            "ca_bundle",
            "connect_s",
            "first_byte_s",
            "idle_s",
            "total_s",
            "fallback",
            "is_trial",
            "enabled",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer("secret_ref", secrets.names(), none=NO_SECRET)
        self._offer("ca_bundle", certificates.names(), none=USUAL_AUTHORITIES)

    def _offer(self, name: str, known: list[str], *, none: str) -> None:
        """Let references be picked that exist, and the one that is held."""
        field = self.fields[name]
        # mypy cannot know that this field has choices.
        assert isinstance(field, forms.ChoiceField)
        held = getattr(self.instance, name)
        names = sorted({*known, *([held] if held else [])})
        field.choices = [("", none), *((each, each) for each in names)]

    @property
    def secret_entered(self) -> bool:
        """Whether the person chose the secret now: another one, or the same one confirmed."""
        return "secret_ref" in self.changed_data or bool(self.cleaned_data["confirm_secret"])


class NeverDeleted(admin.ModelAdmin):  # type: ignore[type-arg]  # takes no parameter at run time
    actions = None

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Deployment)
class DeploymentAdmin(NeverDeleted):
    form = DeploymentForm
    list_display = ("name", "enabled", "is_trial", "model", "tool_calls", "origin")
    list_filter = ("enabled", "tool_calls", "is_trial")
    search_fields = ("name", "model")
    change_form_template = "admin/gateway/deployment.html"

    def get_urls(self) -> list[URLPattern]:
        """The pages of the model, and the connection test of one deployment."""
        test = self.admin_site.admin_view(require_POST(self.test))
        own = path("<uuid:object_id>/test/", test, name="gateway_deployment_test")
        return [own, *super().get_urls()]

    def test(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        """Ask the deployment for one token and say on its page what happened."""
        deployment = get_object_or_404(Deployment, pk=object_id)
        if not self.has_change_permission(request, deployment):
            raise PermissionDenied
        finding = probe.test(actor=cast(Member, request.user), deployment=deployment)
        level = messages.SUCCESS if finding.reason is None else messages.ERROR
        self.message_user(request, f"{deployment}: {finding.words}", level)
        return redirect("admin:gateway_deployment_change", object_id)

    @admin.display(description="address")
    def origin(self, deployment: Deployment) -> str:
        return addresses.origin(deployment.base_url)

    def save_model(
        self, request: HttpRequest, obj: Deployment, form: DeploymentForm, change: bool
    ) -> None:
        deployments.save(
            actor=f"member:{request.user.pk}",
            deployment=obj,
            secret_entered=form.secret_entered,
        )


@admin.register(ModelRole)
class ModelRoleAdmin(NeverDeleted):
    list_display = ("role", "deployment")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return ["role"] if obj else []

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **options: Any) -> Any:
        options["queryset"] = Deployment.objects.enabled()
        return super().formfield_for_foreignkey(db_field, request, **options)

    def save_model(self, request: HttpRequest, obj: ModelRole, form: Any, change: bool) -> None:
        row = deployments.assign_role(
            actor=f"member:{request.user.pk}",
            role=Role(obj.role),
            deployment_id=obj.deployment_id,
        )
        obj.pk = row.pk


class BudgetForm(forms.ModelForm):  # type: ignore[type-arg]  # takes no parameter at run time
    """Amounts are typed as people say them: whole tokens, or money with its fractions."""

    amount = forms.DecimalField(
        min_value=Decimal(0),
        max_digits=15,
        decimal_places=6,
        help_text="Tokens, or money in its unit, for each period.",
    )

    class Meta:
        model = Budget
        fields = ("member", "group", "unit", "period", "amount", "enabled")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["amount"] = _typed(self.instance, self.instance.amount)

    def clean(self) -> dict[str, Any]:
        """The amount as it is stored: tokens, or millionths of the unit of money."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        unit, amount = cleaned.get("unit") or self.instance.unit, cleaned.get("amount")
        if amount is None:
            return cleaned
        if unit == Unit.TOKENS and amount != int(amount):
            self.add_error("amount", "There are no parts of tokens.")
        cleaned["amount"] = int(amount if unit == Unit.TOKENS else amount * MILLIONTHS)
        return cleaned


def _typed(budget: Budget, amount: int) -> Decimal:
    """An amount as people say it."""
    return Decimal(amount) if budget.unit == Unit.TOKENS else Decimal(amount) / MILLIONTHS


@admin.register(Budget)
class BudgetAdmin(NeverDeleted):
    """What people may use; switched off instead of deleted."""

    form = BudgetForm
    list_display = ("whose", "unit", "period", "limit", "used_so_far", "reserved", "enabled")
    list_filter = ("unit", "period", "enabled")
    list_select_related = ("member", "group")
    autocomplete_fields = ("member",)
    search_fields = ("member__username", "group__name")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        # What was counted so far would mean something else.
        return ("member", "group", "unit", "period") if obj else ()

    def get_queryset(self, request: HttpRequest) -> Any:
        return Budget.objects.now()

    @admin.display(description="of")
    def whose(self, budget: Budget) -> str:
        return f"{budget.member}" if budget.member_id else f"all of {budget.group}"

    @admin.display(description="limit")
    def limit(self, budget: Budget) -> str:
        return f"{_typed(budget, budget.amount):,f}"

    @admin.display(description="used")
    def used_so_far(self, budget: Any) -> str:
        return f"{_typed(budget, budget.used_now):,f}"

    @admin.display(description="reserved")
    def reserved(self, budget: Any) -> str:
        return f"{_typed(budget, budget.held_now):,f}"

    def save_model(self, request: Any, obj: Budget, form: Any, change: bool) -> None:
        budgets.save(actor=request.user.principal, budget=obj)


@admin.register(ModelCall)
class ModelCallAdmin(NeverDeleted):
    list_display = (
        "at",
        "deployment",
        "purpose",
        "outcome",
        "failure",
        "prompt_tokens",
        "completion_tokens",
        "money",
        "duration_ms",
    )
    list_filter = ("outcome", "failure", "purpose", "deployment")
    list_select_related = ("deployment",)
    show_full_result_count = False
    ordering = ("-id",)

    @admin.display(description="cost")
    def money(self, call: ModelCall) -> str:
        return "" if call.cost is None else f"{Decimal(call.cost) / MILLIONTHS:f}"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

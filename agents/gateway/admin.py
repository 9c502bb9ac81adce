"""Deployments and their roles in the administration; model calls to look at."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from agents.gateway import addresses, deployments, secrets
from agents.gateway.models import Deployment, ModelCall, ModelRole, Role

NO_SECRET = "— none —"


class DeploymentForm(forms.ModelForm):  # type: ignore[type-arg]  # takes no parameter at run time
    """The secret is picked by its name; its value is nowhere in the administration."""

    secret_ref = forms.ChoiceField(label="Secret", required=False)
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
            "is_trial",
            "enabled",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Only members of the class: mypy cannot know that this field has choices.
        field = self.fields["secret_ref"]
        assert isinstance(field, forms.ChoiceField)
        held = self.instance.secret_ref
        known = sorted({*secrets.names(), *([held] if held else [])})
        field.choices = [("", NO_SECRET), *((name, name) for name in known)]

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


@admin.register(ModelCall)
class ModelCallAdmin(NeverDeleted):
    list_display = (
        "at",
        "deployment",
        "outcome",
        "failure",
        "prompt_tokens",
        "completion_tokens",
        "duration_ms",
    )
    list_filter = ("outcome", "failure", "deployment")
    list_select_related = ("deployment",)
    show_full_result_count = False
    ordering = ("-id",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

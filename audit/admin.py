"""The audit in the administration: to look at and to filter, for nobody to change."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from audit.models import Anchor, AuditEvent
from audit.reasons import Action, Outcome


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]  # takes no parameter at run time
    """No adding, changing or deleting, superusers included; the tables would refuse it anyway."""

    actions = None
    show_full_result_count = False  # counting millions of rows would make the page slow
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ActionFilter(admin.SimpleListFilter):
    """Offers the whole vocabulary, so the page does not have to look which actions occur."""

    title = "action"
    parameter_name = "action"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(str(action), action.replace("_", " ")) for action in Action]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(action=self.value()) if self.value() else queryset


class OutcomeFilter(admin.SimpleListFilter):
    title = "outcome"
    parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(str(outcome), outcome.replace("_", " ")) for outcome in Outcome]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(outcome=self.value()) if self.value() else queryset


class ActorFilter(admin.SimpleListFilter):
    """Filter by the kind of actor; one exact actor is found through the search box."""

    title = "kind of actor"
    parameter_name = "actor_kind"
    KINDS = ("member", "agent", "task", "worker", "system", "bundle", "anonymous")

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind, kind) for kind in self.KINDS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value()
        if chosen is None:
            return queryset
        if chosen == "anonymous":
            return queryset.filter(actor="anonymous")
        return queryset.filter(actor__startswith=f"{chosen}:")


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnly):
    list_display = ("at", "action", "outcome", "reason", "actor", "subject", "run_id")
    list_filter = (ActionFilter, OutcomeFilter, ActorFilter, ("at", admin.DateFieldListFilter))
    search_fields = ("=actor", "=subject_id", "=run_id")
    search_help_text = "An exact actor (member:…), subject id or run id."
    date_hierarchy = "at"

    @admin.display(description="subject")
    def subject(self, event: AuditEvent) -> str:
        return f"{event.subject_kind}:{event.subject_id}" if event.subject_kind else ""


@admin.register(Anchor)
class AnchorAdmin(ReadOnly):
    list_display = ("at", "id")
    date_hierarchy = "at"

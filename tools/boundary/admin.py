"""Policies of tools in the administration: one page, one line a family."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from tools.boundary import policies
from tools.boundary.models import FamilyPolicy, PolicyMode


@admin.register(FamilyPolicy)
class FamilyPolicyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # takes no parameter at run time
    """Every family there is, decided or not; changing one counts from its tools' next call."""

    actions = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The page; a POST changes what differs from what the page had shown."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method == "POST":
            return self._changed(request)
        context = {
            **self.admin_site.each_context(request),
            **(extra_context or {}),
            "title": "Tool policies",
            "opts": self.opts,
            "lines": policies.lines(),
            "modes": PolicyMode.choices,
            "may_change": self.has_change_permission(request),
        }
        return TemplateResponse(request, "admin/boundary/tool_policies.html", context)

    def change_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """One family has no page of its own."""
        return redirect("admin:boundary_familypolicy_changelist")

    def _changed(self, request: HttpRequest) -> HttpResponse:
        if not self.has_change_permission(request):
            raise PermissionDenied
        changed = []
        for family in policies.families():
            mode = request.POST.get(f"mode-{family}")
            if mode not in PolicyMode.values or mode == request.POST.get(f"shown-{family}"):
                continue
            policies.decide(actor=f"member:{request.user.pk}", family=family, mode=PolicyMode(mode))
            changed.append(family)
        if changed:
            messages.success(request, f"Changed: {', '.join(changed)}.")
        return redirect("admin:boundary_familypolicy_changelist")

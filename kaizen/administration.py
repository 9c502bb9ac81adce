"""The administration site: one sign-in, one look, and only for those whose role says so."""

from functools import wraps
from typing import Any, cast

from django.contrib.admin import AdminSite
from django.contrib.admin.forms import AdminPasswordChangeForm
from django.contrib.auth.views import PasswordChangeView
from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse

from agents.members import accounts, roles
from agents.members.models import Member


class OwnPasswordForm(AdminPasswordChangeForm):
    """The framework's form, saved through `accounts`."""

    def save(self, commit: bool = True) -> Member:
        member: Member = self.user
        accounts.set_password(
            actor=member.principal, member=member, password=self.cleaned_data["new_password1"]
        )
        return member


class KaizenAdminSite(AdminSite):
    """Django's site for administrators and operators.

    Signing in goes through the same throttled back end as everywhere, and Django gives the
    session a new key. A superuser without a role is a break-glass account and is let in too.
    """

    site_header = "Kaizen administration"
    site_title = "Kaizen"
    index_title = "What there is to look after"
    empty_value_display = "—"

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """One's own password, through the operation that audits it."""
        view = PasswordChangeView.as_view(
            form_class=OwnPasswordForm,
            success_url=reverse("admin:password_change_done"),
            template_name="registration/password_change_form.html",
            extra_context={**self.each_context(request), **(extra_context or {})},
        )
        request.current_app = self.name
        return cast(TemplateResponse, view(request))

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Every page of the site. Filters become SQL as they are, so a NUL is turned away here."""
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if any("\0" in value for _, values in request.GET.lists() for value in values):
                raise BadRequest("A value of the address holds a NUL.")
            return inner(request, *args, **kwargs)

        return checked

    def has_permission(self, request: HttpRequest) -> bool:
        """Whether the person may see anything here now: the role is asked, not only a flag."""
        person = request.user
        if not person.is_active or not person.is_staff:
            return False
        return person.is_superuser or person.groups.filter(name__in=roles.STAFF).exists()

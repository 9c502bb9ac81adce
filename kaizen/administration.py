"""The administration site: one sign-in, one look, and only for those whose role says so."""

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest

from agents.members import roles


class KaizenAdminSite(AdminSite):
    """Django's site for administrators and operators.

    Signing in goes through the same throttled back end as everywhere, and Django gives the
    session a new key. A superuser without a role is a break-glass account and is let in too.
    """

    site_header = "Kaizen administration"
    site_title = "Kaizen"
    index_title = "What there is to look after"
    empty_value_display = "—"

    def has_permission(self, request: HttpRequest) -> bool:
        """Whether the person may see anything here now: the role is asked, not only a flag."""
        person = request.user
        if not person.is_active or not person.is_staff:
            return False
        return person.is_superuser or person.groups.filter(name__in=roles.STAFF).exists()


class KaizenAdminConfig(AdminConfig):
    """Makes that site the one that `admin.register` fills."""

    default_site = "kaizen.administration.KaizenAdminSite"

"""Limits and quotas: the bounds people meet, as the code that enforces them declares them."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.formats import number_format
from django.utils.module_loading import import_string
from django.views.decorators.http import require_safe

from agents.members.models import Member
from agents.web.shell import page, signed_in


@require_safe
@signed_in
def limits(request: HttpRequest, member: Member) -> HttpResponse:
    """One table of every limit: what it bounds, how much, in which unit."""
    rows = [
        (each.meaning, number_format(each.value, force_grouping=True), each.unit)
        for each in import_string(settings.LIMITS_SHOWN)()
    ]
    return page(request, member, "agents/limits.html", {"limits": rows})

"""The agents a person may use."""

from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agents.definitions.models import Agent
from agents.members.models import Member
from agents.web.shell import page, signed_in

SHOWN = 200


@require_safe
@signed_in
def agents(request: HttpRequest, member: Member) -> HttpResponse:
    """Cards of usable agents: the shipped ones first, then by name."""
    rows = (
        Agent.objects.usable_by(member)
        .annotate(owner_name=F("owner__display_name"), owner_username=F("owner__username"))
        .order_by("-protected", "name")[:SHOWN]
    )
    cards = [{"agent": row, "provenance": _provenance(row, member)} for row in rows]
    return page(request, member, "agents/agents.html", {"cards": cards})


def _provenance(agent: Agent, member: Member) -> str:
    if agent.protected:
        return _("Included")
    if agent.owner_id == member.pk:
        return _("Yours")
    name = getattr(agent, "owner_name", "") or getattr(agent, "owner_username", "")
    return _("Shared by %(name)s") % {"name": name}

"""The library: cards of the agents a person may use."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from agents.definitions import library
from agents.definitions.library import Source
from agents.definitions.models import Mode
from agents.members.models import Member
from agents.web import agent_words
from agents.web.artifacts import asked, page_number
from agents.web.shell import page, signed_in

ROWS: Final = 24  # of one page
MOST_PAGES: Final = 250
BY_NAME: Final = ("-protected", "name", "id")
SOURCES: Final = (
    (Source.ME, _("Yours")),
    (Source.SHARED, _("From others")),
    (Source.INCLUDED, _("Included")),
)


@require_safe
@signed_in
def agents(request: HttpRequest, member: Member) -> HttpResponse:
    """Usable agents by words, kind and owner: the shipped ones first, then by name."""
    text = asked(request)
    mode, owner = request.GET.get("mode", ""), request.GET.get("owner", "")
    number = page_number(request)
    rows = library.agents(
        member,
        mode=mode if mode in Mode.values else "",
        text=text,
        source=Source(owner) if owner in set(Source) else None,
    ).order_by(*BY_NAME)
    start = (number - 1) * ROWS
    # One row more than is shown says whether there are others, without counting them all.
    found = list(rows.nearest(member, start + ROWS + 1, *BY_NAME)[start : start + ROWS + 1])
    context = {
        "cards": [agent_words.card(each, member) for each in library.cards(member, found[:ROWS])],
        "query": text,
        "mode": mode,
        "owner": owner,
        "modes": agent_words.MODES,
        "owners": SOURCES,
        "filtered": bool(text or mode or owner),
        "number": number,
        "newer": number - 1,
        "older": number + 1 if len(found) > ROWS and number < MOST_PAGES else 0,
    }
    return page(request, member, "agents/agents.html", context)

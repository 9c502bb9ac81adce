"""The versions of an agent: listed, looked at, compared word by word, brought back."""

from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from agents.definitions import differences, library
from agents.definitions import versions as definitions
from agents.definitions.models import AgentVersion
from agents.members.models import Member
from agents.web import agent_words
from agents.web.failures import refusals_as_pages
from agents.web.shell import page, signed_in
from audit.refusals import Conflict, Invalid, NotFound

ROWS: Final = 30  # versions on one page
MEMBER: Final = "member:"


@require_safe
@signed_in
@refusals_as_pages
def versions(request: HttpRequest, member: Member, agent_id: UUID) -> HttpResponse:
    """All versions, the newest first; with `from` and `to`, what changed between the two; with
    `look`, one of them whole.
    """
    agent = library.agents(member).readable_by(member).filter(id=agent_id).first()
    if agent is None:
        raise NotFound()
    rows = AgentVersion.objects.visible_to(member).filter(agent_id=agent_id)
    (card,) = library.cards(member, [agent])
    listed = Paginator(rows.order_by("-number"), ROWS).get_page(request.GET.get("page"))
    names = _names(version.author_principal for version in listed)
    first, second = _number(request, "from"), _number(request, "to")
    compared = (min(first, second), max(first, second)) if first and second else None
    looked = _number(request, "look")
    context = {
        "agent": agent,
        "card": agent_words.card(card, member),
        "listed": listed,
        "versions": [(version, names[version.author_principal]) for version in listed],
        "compared": compared,
        "changes": _changes(rows, *compared) if compared else None,
        "first": first or agent.head - 1,
        "second": second or agent.head,
        "looked": _whole(rows, looked) if looked else None,
    }
    return page(request, member, "agents/agent_versions.html", context)


@require_POST
@signed_in
@refusals_as_pages
def restore(request: HttpRequest, member: Member, agent_id: UUID) -> HttpResponse:
    """Append a version with the content of an earlier one."""
    number = _number(request, "version")
    return _appended(
        request,
        agent_id,
        lambda: definitions.restore(
            actor=member,
            agent_id=agent_id,
            version=number,
            expected_version=_number(request, "expected_version"),
        ),
        _("Version %(old)s is back, as version %(new)s."),
        number,
    )


@require_POST
@signed_in
@refusals_as_pages
def rollback(request: HttpRequest, member: Member, agent_id: UUID) -> HttpResponse:
    """Append a version with the content of the one before the newest."""
    expected = _number(request, "expected_version")
    return _appended(
        request,
        agent_id,
        lambda: definitions.rollback(actor=member, agent_id=agent_id, expected_version=expected),
        _("The last change is undone: version %(old)s is back, as version %(new)s."),
        expected - 1,
    )


def _appended(
    request: HttpRequest, agent_id: UUID, write: Any, success: str, old: int
) -> HttpResponse:
    """Write, and say how it went on the list of versions."""
    try:
        version = write()
    except Conflict as conflict:
        said = conflict.message
        if conflict.current is not None:
            said = _("Somebody saved version %(number)s meanwhile. Look at it first.") % {
                "number": conflict.current
            }
        messages.warning(request, said)
    except Invalid:
        messages.error(request, _("That version cannot come back: its name is taken by now."))
    else:
        messages.success(request, success % {"old": old, "new": version.number})
    return HttpResponseRedirect(reverse("web:agent_versions", args=[agent_id]))


def _changes(rows: Any, first: int, second: int) -> list[dict[str, Any]]:
    """What differs, field by field, in words."""
    both = {version.number: version for version in rows.filter(number__in=(first, second))}
    if first not in both or second not in both:
        raise NotFound()
    return [
        {
            "field": agent_words.field(change.field),
            "words": change.words if change.field in agent_words.TEXTS else [],
            "before": agent_words.value(change.field, change.before),
            "after": agent_words.value(change.field, change.after),
        }
        for change in differences.between(both[first].content, both[second].content)
    ]


def _whole(rows: Any, number: int) -> dict[str, Any]:
    version = rows.filter(number=number).first()
    if version is None:
        raise NotFound()
    fields = [
        (name, agent_words.field(name), agent_words.value(name, version.content[name]))
        for name in agent_words.FIELDS
        if version.content.get(name) not in ("", [], {}, None)
    ]
    return {"version": version, "fields": fields}


def _names(principals: Any) -> dict[str, str]:
    """Names of the people who wrote versions; of bundles, who ships them."""
    wanted = set(principals)
    ids = [int(text.removeprefix(MEMBER)) for text in wanted if text.startswith(MEMBER)]
    people = {person.principal: person.name_shown() for person in Member.objects.filter(pk__in=ids)}
    return {text: people.get(text) or _("Included with Kaizen") for text in wanted}


def _number(request: HttpRequest, name: str) -> int:
    """A version's number; 0 where none is given."""
    text = (request.POST if request.method == "POST" else request.GET).get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0

"""The pages of artifacts: everything one may see, and one artifact over the full width."""

import re
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agents.members.models import Member
from agents.web.failures import refusals_as_pages
from agents.web.shell import page, signed_in
from artifacts import reading
from artifacts.kinds.content import Kind
from artifacts.models import Artifact
from artifacts.reading import NEWEST

ROWS: Final = 40  # of one page of the list
MOST_PAGES: Final = 250  # further back than anybody turns pages; search reaches the rest
QUERY_CHARACTERS: Final = 200
ICONS: Final = {Kind.CODE: "code", Kind.GRAPH: "graph", Kind.RENDERABLE: "table"}
UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")  # PostgreSQL compares no text with these


@require_safe
@signed_in
def artifacts(request: HttpRequest, member: Member) -> HttpResponse:
    """What the person may see, the last changed first, by words of the title and by kind."""
    text = asked(request)
    kind = request.GET.get("kind", "")
    number = page_number(request)
    known = kind if kind in set(Kind) else ""
    rows = reading.visible(member, text=text, kind=known).select_related("owner")
    # One row more than is shown says whether there are others, without counting them all.
    start = (number - 1) * ROWS
    found = list(rows.nearest(member, start + ROWS + 1, *NEWEST)[start : start + ROWS + 1])
    context = {
        "cards": [_card(row, member) for row in found[:ROWS]],
        "query": text,
        "kind": kind,
        "kinds": [(str(each), _kind_name(each)) for each in Kind],
        "number": number,
        "newer": number - 1,
        "older": number + 1 if len(found) > ROWS and number < MOST_PAGES else 0,
    }
    return page(request, member, "agents/artifacts.html", context)


@require_safe
@signed_in
@refusals_as_pages
def artifact(request: HttpRequest, member: Member, artifact_id: UUID) -> HttpResponse:
    """One artifact, with everything that the panel beside a chat offers."""
    found = reading.artifact(member, artifact_id)
    opening = {"artifact": str(found.id), "title": found.title, "kind": found.kind}
    return page(request, member, "agents/artifact.html", {"artifact": found, "page": opening})


def asked(request: HttpRequest) -> str:
    """The words somebody searches titles for."""
    return UNSTORABLE.sub("", request.GET.get("q", "")).strip()[:QUERY_CHARACTERS]


def page_number(request: HttpRequest) -> int:
    """Which page of a list is asked for; the first where the address makes no sense."""
    text = request.GET.get("page", "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 1
    return min(max(number, 1), MOST_PAGES)


def _card(row: Artifact, member: Member) -> dict[str, Any]:
    mine = row.owner_id == member.pk
    return {
        "artifact": row,
        "kind": _kind_name(Kind(row.kind)),
        "icon": ICONS.get(Kind(row.kind), "document"),
        "from": "" if mine else _("Shared by %(name)s") % {"name": row.owner.name_shown()},
    }


def _kind_name(kind: Kind) -> str:
    return {
        Kind.MARKDOWN: _("Document"),
        Kind.CODE: _("Code"),
        Kind.GRAPH: _("Graph"),
        Kind.RENDERABLE: _("Data view"),
        Kind.TEXT: _("Text"),
    }[kind]

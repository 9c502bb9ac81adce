"""Finding conversations and artifacts: search, the whole list, and what was put aside."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agents.conversations import search as history
from agents.conversations.models import Conversation
from agents.members.models import Member
from agents.web import artifacts
from agents.web.shell import page, signed_in
from artifacts import reading

HITS = 20
ARTIFACT_HITS = 3  # above the conversations, which are what people mostly look for
ROWS = 50  # of one page of a list


@require_safe
@signed_in
def search(request: HttpRequest, member: Member) -> HttpResponse:
    """Hits for the search dialog; without a query, what was last worked on."""
    text = request.GET.get("q", "").strip()
    hits = history.search(member=member, text=text, limit=HITS)
    words = artifacts.asked(request)
    found = reading.visible(member, text=words)[:ARTIFACT_HITS] if words else []
    kept = [{"artifact": each, "title": _marked(each.title, words)} for each in found]
    context = {"hits": hits, "kept": kept, "query": text}
    return render(request, "agents/search_results.html", context)


@require_safe
@signed_in
def everything(request: HttpRequest, member: Member) -> HttpResponse:
    """All conversations that are not archived, newest first."""
    rows = Conversation.objects.visible_to(member).kept().exclude(title="").order_by("-active_at")
    listed = Paginator(rows, ROWS).get_page(request.GET.get("page"))
    return page(request, member, "agents/conversations.html", {"listed": listed})


@require_safe
@signed_in
def archived(request: HttpRequest, member: Member) -> HttpResponse:
    """What the person put aside, newest first."""
    rows = Conversation.objects.visible_to(member).archived().order_by("-archived_at")
    listed = Paginator(rows, ROWS).get_page(request.GET.get("page"))
    context = {"listed": listed, "is_archive": True}
    return page(request, member, "agents/conversations.html", context)


def _marked(title: str, words: str) -> tuple[history.Piece, ...]:
    """A title in pieces around the words it was found by."""
    at = title.lower().find(words.lower())
    if at < 0 or len(title.lower()) != len(title):
        return (history.Piece(title, False),)
    end = at + len(words)
    pieces = ((title[:at], False), (title[at:end], True), (title[end:], False))
    return tuple(history.Piece(text, found) for text, found in pieces if text)

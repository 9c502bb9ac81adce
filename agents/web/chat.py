"""The chat page: the frames it opens with, and the pages above them."""

from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agents.conversations.models import Conversation
from agents.definitions.models import Mode
from agents.gateway import deployments
from agents.journal import replay
from agents.journal.frames import Kind, frame
from agents.journal.prepared import instances
from agents.journal.replay import Shown
from agents.members.models import Member
from agents.web import choosing, sidebar
from agents.web.choosing import Choice
from agents.web.failures import refusals_as_json, refusals_as_pages
from agents.web.shell import page, signed_in
from audit.reasons import Reason
from audit.refusals import NotFound, Refusal

OPENING_ENTRIES: Final = 160  # what a page opens with: forty plain exchanges, fewer with tools
EARLIER_ENTRIES: Final = 300  # of one page above
VISIBLE: Final = instances(
    Conversation,
    lambda marks: Conversation.objects.visible_to(marks.person("member")).filter(
        id=marks.uuid("id")
    ),
)


@require_safe
@signed_in
def home(request: HttpRequest, member: Member) -> HttpResponse:
    """A new chat. Nothing is stored before the first message."""
    more = {"starters": _starters(), "model": _chat_model()}
    return _new(request, member, Mode.CHAT, more)


@require_safe
@signed_in
def ask(request: HttpRequest, member: Member) -> HttpResponse:
    """The search surface: one question a turn, answered by an agent that searches."""
    return _new(request, member, Mode.SEARCH, {"model": _chat_model()})


@require_safe
@signed_in
@refusals_as_pages
def conversation(request: HttpRequest, member: Member, conversation_id: UUID) -> HttpResponse:
    """One conversation with its newest frames, on the surface of the agent it talks to."""
    found = _visible(member, conversation_id)
    agents = choosing.in_conversation(member, found.id)
    chosen = next((agent for agent in agents if agent.id == found.agent_id), None)
    agent = chosen or choosing.default(agents)
    page_data = {
        **opening(member, agent),
        **_history(found, _newest(found.id)),
        "found": _position(request.GET.get("m")),
    }
    context = {
        "title": found.title,
        "current": str(found.id),
        "agents": [choosing.option(agent, member) for agent in agents],
        "page": page_data,
    }
    return page(request, member, "agents/chat.html", context)


@require_safe
@signed_in
@refusals_as_json
def earlier(request: HttpRequest, member: Member, conversation_id: UUID) -> HttpResponse:
    """Frames above the position `before`, as JSON for the page that shows the later ones."""
    found = _visible(member, conversation_id)
    before = _position(request.GET.get("before"))
    if before is None:
        raise Refusal(Reason.BAD_REQUEST, "The position is not a number.")
    entries = replay.before(found.id, before, limit=EARLIER_ENTRIES)
    return JsonResponse(
        {
            "items": [frame(entry) for entry in entries],
            "has_earlier": bool(entries) and entries[0].position > 1,
        }
    )


@require_safe
@signed_in
def sidebar_list(request: HttpRequest, member: Member) -> HttpResponse:
    """The sidebar's list with the inbox's count, for refreshing. `current` marks the open one."""
    context = {
        "groups": sidebar.groups_for(member, sidebar.zone_of(request, member)),
        "current": request.GET.get("current", ""),
        "waiting": sidebar.waiting(member),
        "is_refresh": True,
    }
    return render(request, "agents/sidebar_list.html", context)


def _visible(member: Member, conversation_id: UUID) -> Conversation:
    found = VISIBLE.first(member=member.pk, id=conversation_id)
    if found is None:
        raise NotFound()
    return found


def _newest(conversation_id: UUID) -> list[Shown]:
    """The newest entries, starting with a question where earlier ones are left out."""
    entries = replay.before(conversation_id, replay.END, limit=OPENING_ENTRIES)
    if not entries or entries[0].position == 1:
        return entries
    first = next((at for at, each in enumerate(entries) if each.kind == Kind.INPUT_ACCEPTED), 0)
    return entries[first:]


def opening(member: Member, agent: Choice | None, *, is_trial: bool = False) -> dict[str, Any]:
    """What the browser code starts a new conversation from; its types are in `chat.ts`."""
    return {
        "conversation": None,
        "applied": 0,
        "first": 0,
        "has_earlier": False,
        "frames": [],
        "agent": {
            "id": str(agent.id) if agent else "",
            "name": agent.name if agent else _("No agent"),
        },
        "surface": agent.mode if agent else Mode.CHAT.value,
        "is_trial": is_trial,
        "me": {
            "id": str(member.pk),
            "name": member.name_shown(),
            "during": member.default_during_run,
        },
        "found": None,
    }


def _new(request: HttpRequest, member: Member, mode: Mode, more: dict[str, Any]) -> HttpResponse:
    agents = choosing.on_surface(member, mode)
    wanted = request.GET.get("agent", "")
    chosen = next((agent for agent in agents if str(agent.id) == wanted), None)
    context = {
        "title": "",
        "agents": [choosing.option(agent, member) for agent in agents],
        "page": {
            **opening(member, chosen or choosing.default(agents)),
            "surface": mode.value,
        },
        **more,
    }
    return page(request, member, "agents/chat.html", context)


def _history(found: Conversation, entries: list[Shown]) -> dict[str, Any]:
    return {
        "conversation": str(found.id),
        "applied": entries[-1].position if entries else 0,
        "first": entries[0].position if entries else 0,
        "has_earlier": bool(entries) and entries[0].position > 1,
        "frames": [frame(entry) for entry in entries],
    }


def _chat_model() -> str:
    """`trial`, `connected`, or `none` where no deployment answers chats."""
    deployment = deployments.answering()
    if deployment is None:
        return "none"
    return "trial" if deployment.is_trial else "connected"


def _position(text: str | None) -> int | None:
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 18:
        return None
    return int(text)


def _starters() -> list[dict[str, str]]:
    return [
        {"label": _("Plan a week"), "text": _("Help me plan my week. Ask me what matters first.")},
        {
            "label": _("Shorten a text"),
            "text": _("Shorten the following text and keep its meaning:\n\n"),
        },
        {
            "label": _("Explain something"),
            "text": _("Explain in plain words, with one example: "),
        },
        {
            "label": _("Draft a document"),
            "text": _("Draft a one-page document and save it as an artifact. It is about "),
        },
    ]

"""The chat page: the frames it opens with, and the pages above them."""

from typing import Any, Final, NamedTuple
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agents.conversations.models import Conversation
from agents.definitions.bundling import default_agent_id
from agents.definitions.models import Agent
from agents.gateway import deployments
from agents.journal import replay
from agents.journal.frames import Kind, frame
from agents.journal.prepared import Prepared, instances
from agents.journal.replay import Shown
from agents.members.models import Member
from agents.web import sidebar
from agents.web.failures import refusals_as_json, refusals_as_pages
from agents.web.shell import page, signed_in
from audit.reasons import Reason
from audit.refusals import NotFound, Refusal

OPENING_ENTRIES: Final = 160  # what a page opens with: forty plain exchanges, fewer with tools
EARLIER_ENTRIES: Final = 300  # of one page above
AGENTS_SHOWN: Final = 100


class Choice(NamedTuple):
    """An agent as the page offers it."""

    id: UUID
    name: str
    description: str


CHOICES: Final = Prepared(
    Choice._make,
    lambda marks: (
        Agent.objects.usable_by(marks.person("member"))
        .filter(mode="chat")
        .order_by("-protected", "name")
        .values_list(*Choice._fields)[:AGENTS_SHOWN]
    ),
)
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
    agents = CHOICES.rows(member=member.pk)
    wanted = request.GET.get("agent", "")
    chosen = next((agent for agent in agents if str(agent.id) == wanted), None)
    context = {
        "title": "",
        "agents": agents,
        "starters": _starters(),
        "model": _chat_model(),
        "page": _opening(member, None, [], chosen or _default(agents)),
    }
    return page(request, member, "agents/chat.html", context)


@require_safe
@signed_in
@refusals_as_pages
def conversation(request: HttpRequest, member: Member, conversation_id: UUID) -> HttpResponse:
    """One conversation with its newest frames."""
    found = _visible(member, conversation_id)
    agents = CHOICES.rows(member=member.pk)
    chosen = next((agent for agent in agents if agent.id == found.agent_id), None)
    opening = _opening(
        member, found, _newest(found.id), chosen or _default(agents), request.GET.get("m")
    )
    context = {
        "title": found.title,
        "current": str(found.id),
        "agents": agents,
        "page": opening,
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


def _opening(
    member: Member,
    found: Conversation | None,
    entries: list[Shown],
    agent: Choice | None,
    wanted_position: str | None = None,
) -> dict[str, Any]:
    """What the browser code starts from; its types are in `chat.ts`."""
    return {
        "conversation": str(found.id) if found else None,
        "applied": entries[-1].position if entries else 0,
        "first": entries[0].position if entries else 0,
        "has_earlier": bool(entries) and entries[0].position > 1,
        "frames": [frame(entry) for entry in entries],
        "agent": {
            "id": str(agent.id) if agent else "",
            "name": agent.name if agent else _("No agent"),
        },
        "me": {
            "id": str(member.pk),
            "name": member.name_shown(),
            "during": member.default_during_run,
        },
        "found": _position(wanted_position),
    }


def _default(agents: list[Choice]) -> Choice | None:
    wanted = default_agent_id()
    return next((agent for agent in agents if agent.id == wanted), agents[0] if agents else None)


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

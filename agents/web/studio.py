"""One agent: its editor or what of it may be seen, its test chat, copying and deleting it."""

from functools import wraps
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_POST, require_safe

from agents.definitions import content as definition
from agents.definitions import library, versions
from agents.definitions.models import Agent, Ceiling, Mode
from agents.members import accounts
from agents.members.models import Member
from agents.web import agent_words, chat, choosing
from agents.web.account import EFFORTS
from agents.web.failures import View, refusals_as_pages
from agents.web.shell import page, signed_in
from audit.refusals import NotFound, Refusal

EMPTY: Final[dict[str, Any]] = {
    **definition.OPTIONAL,
    "name": "",
    "persona": "",
    "capability_ceiling": Ceiling.WRITE.value,
    "posture": {"tools": ["artifacts"]},
}
LIMITS: Final = {
    "name": int(definition.NAME_CHARACTERS),
    "description": int(definition.DESCRIPTION_CHARACTERS),
    "persona": int(definition.PERSONA_CHARACTERS),
}


def saying_refusals(view: View) -> View:
    """Lead back to the agent with the refusal as a notice; what is missing stays missing."""

    @wraps(view)
    def answered(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except NotFound:
            raise
        except Refusal as refusal:
            messages.error(request, refusal.message)
            return HttpResponseRedirect(reverse("web:agent", args=[kwargs["agent_id"]]))

    return answered


@require_safe
@signed_in
def new(request: HttpRequest, member: Member) -> HttpResponse:
    """The editor with an empty definition. Nothing is stored before it is saved."""
    wanted = request.GET.get("mode", "")
    content = {**EMPTY, "mode": wanted if wanted in Mode.values else Mode.CHAT.value}
    context = {
        **_editor(content),
        "card": None,
        "page": {"agent": None, "version": 0, "content": content},
    }
    return page(request, member, "agents/agent_editor.html", context)


@require_safe
@signed_in
@refusals_as_pages
def agent(request: HttpRequest, member: Member, agent_id: UUID) -> HttpResponse:
    """The editor for those who may edit, for others what they may see."""
    found, card = _reached(member, agent_id)
    readable = Agent.objects.readable_by(member).filter(id=agent_id).exists()
    content = versions.newest(found).content if readable else None
    administers = accounts.is_administrator(member) and not found.protected
    context: dict[str, Any] = {
        "card": card,
        "content": content,
        "may_publish": administers,
        "opens_sharing": card["may"].share or administers,
        "page": {
            "agent": str(found.id),
            "name": found.name,
            "version": found.head,
            "content": content,
            "owned": card["may"].share,
            "may_publish": administers,
            "audience": found.audience,
        },
    }
    if card["may"].edit and content is not None:
        return page(request, member, "agents/agent_editor.html", {**context, **_editor(content)})
    if content is not None:
        context["ceiling"] = agent_words.ceiling(content["capability_ceiling"])
    return page(request, member, "agents/agent.html", context)


@require_safe
@xframe_options_sameorigin
@signed_in
@refusals_as_pages
def trial(request: HttpRequest, member: Member, agent_id: UUID) -> HttpResponse:
    """A conversation with one agent, to be shown beside its editor and nowhere else."""
    found, _card = _reached(member, agent_id)
    choices = choosing.on_surface(member, Mode(found.mode))
    choice = next((each for each in choices if each.id == found.id), None)
    opening = chat.opening(member, choice, is_trial=True)
    opening["agent"] = {"id": str(found.id), "name": found.name}
    opening["surface"] = found.mode
    return render(request, "agents/trial.html", {"member": member, "page": opening})


@require_POST
@signed_in
@refusals_as_pages
@saying_refusals
def duplicate(request: HttpRequest, member: Member, agent_id: UUID) -> HttpResponse:
    """A private copy, opened in the editor."""
    version = versions.duplicate(actor=member, agent_id=agent_id)
    messages.success(request, _("This is your copy. Nobody else sees it."))
    return HttpResponseRedirect(reverse("web:agent", args=[version.agent_id]))


@require_POST
@signed_in
@refusals_as_pages
@saying_refusals
def delete(request: HttpRequest, member: Member, agent_id: UUID) -> HttpResponse:
    """Retire an agent of one's own."""
    versions.delete(actor=member, agent_id=agent_id)
    messages.success(request, _("The agent is deleted."))
    return HttpResponseRedirect(reverse("web:agents"))


def _reached(member: Member, agent_id: UUID) -> tuple[Agent, dict[str, Any]]:
    found = library.agents(member).filter(id=agent_id).first()
    if found is None:
        raise NotFound()
    (card,) = library.cards(member, [found])
    return found, agent_words.card(card, member)


def _editor(content: dict[str, Any]) -> dict[str, Any]:
    """What the editor's form offers."""
    return {
        "content": content,
        "modes": agent_words.MODES,
        "ceilings": agent_words.CEILINGS,
        "families": agent_words.FAMILIES,
        "chosen_families": content["posture"].get("tools", []),
        "effort": content["posture"].get("effort", ""),
        "efforts": EFFORTS,
        "limits": LIMITS,
    }

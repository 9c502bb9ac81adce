"""What a person does with a conversation from the sidebar. Each answers 204 with nothing in it."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from agents.conversations import keeping
from agents.members.models import Member
from agents.web.failures import refusals_as_json
from agents.web.shell import signed_in
from audit.reasons import Reason
from audit.refusals import Invalid

POSITION_DIGITS = 18  # fits a 64-bit position


@require_POST
@signed_in
@refusals_as_json
def rename(request: HttpRequest, member: Member, conversation_id: UUID) -> HttpResponse:
    """Give it the title in `title`."""
    title = request.POST.get("title", "")
    if "\0" in title:
        raise Invalid([{"field": "title", "reason": str(Reason.INVALID_FIELD)}])
    keeping.rename(member=member, conversation_id=conversation_id, title=title)
    return HttpResponse(status=204)


@require_POST
@signed_in
@refusals_as_json
def switch(
    request: HttpRequest, member: Member, conversation_id: UUID, *, name: str, on: bool
) -> HttpResponse:
    """Pin or archive it, or take that back; the route says which."""
    keeping.switch(member=member, conversation_id=conversation_id, name=name, on=on)
    return HttpResponse(status=204)


@require_POST
@signed_in
@refusals_as_json
def read(request: HttpRequest, member: Member, conversation_id: UUID) -> HttpResponse:
    """Remember that the person has seen everything up to `position`."""
    text = request.POST.get("position", "")
    if not text.isascii() or not text.isdigit() or len(text) > POSITION_DIGITS:
        raise Invalid([{"field": "position", "reason": str(Reason.INVALID_FIELD)}])
    keeping.mark_read(member=member, conversation_id=conversation_id, position=int(text))
    return HttpResponse(status=204)


@require_POST
@signed_in
@refusals_as_json
def delete(request: HttpRequest, member: Member, conversation_id: UUID) -> HttpResponse:
    """Hide it and stop what runs in it."""
    keeping.delete(member=member, conversation_id=conversation_id)
    return HttpResponse(status=204)


@require_POST
@signed_in
@refusals_as_json
def restore(request: HttpRequest, member: Member, conversation_id: UUID) -> HttpResponse:
    """Take a deletion back."""
    keeping.restore(member=member, conversation_id=conversation_id)
    return HttpResponse(status=204)

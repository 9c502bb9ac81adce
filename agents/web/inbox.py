"""What waits for a person in all their conversations, and what they decided lately."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from agents.conversations.models import Conversation
from agents.journal.frames import Kind
from agents.journal.models import Entry
from agents.members.models import Member
from agents.web.failures import refusals_as_json
from agents.web.shell import page, signed_in
from tools.boundary.approvals import OUTCOMES
from tools.boundary.models import WAITING_STATES, Approval, ApprovalState

SHOWN: Final = 50  # that wait; the queue of a conversation is shorter by far
SETTLED_SHOWN: Final = 20


@require_safe
@signed_in
def inbox(request: HttpRequest, member: Member) -> HttpResponse:
    """Every call that waits for the person, and the last ones settled."""
    return page(request, member, "agents/inbox.html", {"page": {"items": items_for(member)}})


@require_safe
@signed_in
@refusals_as_json
def items(request: HttpRequest, member: Member) -> HttpResponse:
    """The same as JSON, for the page that is open."""
    return JsonResponse({"items": items_for(member)})


def items_for(member: Member) -> list[dict[str, Any]]:
    """Calls as `calls.ts` reads them, those that wait first, each group newest first.

    A waiting call is shown with the data of its frame, so that the card is the one in the
    conversation. Four statements, however many calls there are.
    """
    mine = Approval.objects.visible_to(member)
    waiting = list(mine.pending().order_by("-created_at")[:SHOWN])
    others = mine.exclude(state__in=[*WAITING_STATES, ApprovalState.ANSWERED])
    settled = list(others.order_by("-created_at").defer("arguments")[:SETTLED_SHOWN])
    rows = [*waiting, *settled]
    titles = _titles(member, {row.conversation_id for row in rows})
    asked = _frames([row.run_id for row in waiting])
    for row in waiting:
        # The bytes that the digest was made of, not what was said of them.
        asked[str(row.id)] = asked.get(str(row.id), {}) | {"arguments": row.arguments}
    return [
        {**_item(row), **asked.get(str(row.id), {}), "title": titles[row.conversation_id]}
        for row in rows
        if row.conversation_id in titles
    ]


def _item(row: Approval) -> dict[str, Any]:
    return {
        "approval_id": str(row.id),
        "conversation_id": str(row.conversation_id),
        "call_id": row.call_id,
        "state": OUTCOMES.get(ApprovalState(row.state), row.state),
        "tool": row.tool,
        "label": row.label,
        "effect": row.effect,
        "target": row.target,
        "digest": row.digest,
        "reason": row.reason,
        "expires_at": row.expires_at and row.expires_at.isoformat(),
        "decided_at": row.decided_at and row.decided_at.isoformat(),
    }


def _titles(member: Member, ids: set[UUID]) -> Mapping[UUID, str]:
    rows = Conversation.objects.visible_to(member).filter(id__in=ids)
    return dict(rows.values_list("id", "title"))


def _frames(run_ids: list[UUID]) -> dict[str, dict[str, Any]]:
    """What the conversations say about the questions of some runs, by approval."""
    rows = Entry.objects.filter(run_id__in=run_ids, kind=Kind.APPROVAL_REQUESTED)
    return {data["approval_id"]: data for data in rows.values_list("data", flat=True)}

"""What a member does with a conversation as a whole: rename, pin, archive, read, delete."""

from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Greatest, Now

from agents.conversations import questions
from agents.conversations.models import Conversation
from agents.members.models import Member
from audit import canonical, funnel
from audit.limits import limit
from audit.reasons import Action, Reason
from audit.refusals import Invalid, NotFound
from tools.effects import claims

TITLE_CHARACTERS = limit(
    "conversation.title", 200, "characters", "Length of a conversation's title."
)
SWITCHES: Final = {"pinned": "pinned_at", "archived": "archived_at"}


def rename(*, member: Member, conversation_id: UUID, title: str) -> None:
    """Give a conversation another title; raises `NotFound`, `Invalid`, or `Refusal(BAD_JSON)` for
    text that cannot be stored.
    """
    text = " ".join(title.split())
    canonical.check(text)
    if not 0 < len(text) <= TITLE_CHARACTERS:
        raise Invalid([{"field": "title", "reason": str(Reason.INVALID_FIELD)}])
    _change(member, conversation_id, title=text)


def switch(*, member: Member, conversation_id: UUID, name: str, on: bool) -> None:
    """Pin or archive (`name` is `pinned` or `archived`), or take it back."""
    _change(member, conversation_id, **{SWITCHES[name]: Now() if on else None})


def mark_read(*, member: Member, conversation_id: UUID, position: int) -> None:
    """Remember how far the member has read; never moves back."""
    _change(member, conversation_id, read_position=Greatest("read_position", position))


def delete(*, member: Member, conversation_id: UUID) -> None:
    """Hide a conversation from everyone at once and stop what runs in it."""
    with transaction.atomic():
        _change(member, conversation_id, deleted_at=Now())
        questions.give_up(claims.request_stop(conversation_id), actor=member.principal)
        funnel.record(
            action=Action.CONVERSATION_DELETED,
            actor=member.principal,
            outcome="success",
            subject=("conversation", str(conversation_id)),
        )


def restore(*, member: Member, conversation_id: UUID) -> None:
    """Take a deletion back."""
    changed = Conversation.objects.deleted_by(member).filter(id=conversation_id)
    if not changed.update(deleted_at=None):
        raise NotFound()


def _change(member: Member, conversation_id: UUID, **values: Any) -> None:
    rows = Conversation.objects.editable_by(member).filter(id=conversation_id)
    if not rows.update(**values):
        raise NotFound()

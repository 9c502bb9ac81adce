"""Telling a running turn something. Every door asks here, so that all of them answer alike."""

from typing import NoReturn
from uuid import UUID

from agents.conversations.models import Conversation
from agents.members.models import Member
from agents.turns.models import Turn
from audit.reasons import Reason
from audit.refusals import Conflict, Invalid, NotFound


def steer(*, member: Member, conversation_id: UUID, turn_id: UUID, message: str) -> NoReturn:
    """Refuse: no controller reads messages while it works.

    Raises `NotFound` for a conversation the member cannot see, `Invalid` for an empty message,
    `Conflict(TURN_NOT_LIVE)` unless the turn is being worked for the member, and
    `Conflict(CONFLICT)` for one that is.
    """
    if not Conversation.objects.visible_to(member).filter(id=conversation_id).exists():
        raise NotFound()
    if not message.strip():
        raise Invalid([{"field": "message", "reason": str(Reason.TOO_SHORT)}])
    turns = Turn.objects.visible_to(member).filter(
        conversation_id=conversation_id, member=member, terminal=""
    )
    if not turns.filter(id=turn_id).exists():
        raise Conflict(Reason.TURN_NOT_LIVE, "That turn is not being worked for you.")
    raise Conflict(Reason.CONFLICT, "That turn's controller takes no messages while it works.")

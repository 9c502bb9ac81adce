"""Who may read a conversation's stream: asked at the door, and again while the stream lasts."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import OuterRef, Subquery, Value

from agents.conversations.models import Conversation
from agents.journal.models import Stream
from agents.members import credentials
from agents.members.credentials import Credential
from agents.members.models import Member
from agents.members.standing import standing
from agents.streaming.listener import CloseCode
from audit.refusals import NotFound

PEOPLE_PER_QUERY: Final = 50


@dataclass(frozen=True)
class Entrance:
    """Somebody who may read, and the journal's newest position at that moment."""

    credential: Credential
    head: int


def enter(scope: Mapping[str, Any], conversation_id: UUID) -> Entrance:
    """Identify the caller and find the conversation.

    Raises `Refusal(NOT_AUTHENTICATED)`, or `NotFound` for a conversation that is missing or not
    theirs.
    """
    credential = credentials.from_scope(scope)
    if credential is None:
        raise credentials.not_authenticated()
    return Entrance(credential, _head(credential.member, conversation_id))


def recognise(credential: Credential) -> Credential:
    """The same caller looked at now; raises `Refusal(NOT_AUTHENTICATED)` when that is over. What
    they may still see is for the operation that follows to ask.
    """
    now = credentials.again(credential)
    if now is None:
        raise credentials.not_authenticated()
    return now


def withdrawn(readers: Sequence[tuple[Credential, UUID]]) -> list[CloseCode | None]:
    """For each reader the code to close with, or None while they may go on. A few queries for
    all of them together.
    """
    people = standing({credential for credential, _ in readers})
    wanted: defaultdict[Member, set[UUID]] = defaultdict(set)
    for credential, conversation_id in readers:
        if credential in people:
            wanted[people[credential]].add(conversation_id)
    visible = _visible(wanted)
    codes: list[CloseCode | None] = []
    for credential, conversation_id in readers:
        if credential not in people:
            codes.append(CloseCode.NOT_SIGNED_IN)
        elif (credential.member.pk, conversation_id) not in visible:
            codes.append(CloseCode.NOT_VISIBLE)
        else:
            codes.append(None)
    return codes


def _head(member: Member, conversation_id: UUID) -> int:
    head: int | None = (
        Conversation.objects.visible_to(member)
        .filter(id=conversation_id)
        .values_list(Subquery(Stream.objects.filter(id=OuterRef("id")).values("head")), flat=True)
        .first()
    )
    if head is None:
        raise NotFound()
    return head


def _visible(wanted: Mapping[Member, set[UUID]]) -> set[tuple[int, UUID]]:
    """Pairs of person and conversation that may be seen now."""
    questions = [
        Conversation.objects.visible_to(member)
        .filter(id__in=ids)
        .annotate(person=Value(member.pk))
        .values_list("person", "id")
        for member, ids in wanted.items()
    ]
    found: set[tuple[int, UUID]] = set()
    for first in range(0, len(questions), PEOPLE_PER_QUERY):
        part = questions[first : first + PEOPLE_PER_QUERY]
        found.update(part[0].union(*part[1:], all=True))
    return found

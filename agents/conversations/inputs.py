"""Accepting what members ask, and stopping it. Each is one transaction and safe to repeat."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from agents.conversations.models import OPEN_STATUSES, Conversation, Input, InputStatus
from agents.definitions.bundling import default_agent_id
from agents.definitions.models import Agent
from agents.journal import publication
from agents.journal.append import Draft, append, open_stream
from agents.journal.frames import Kind
from agents.members.models import Member
from audit import canonical, funnel
from audit.limits import limit
from audit.reasons import Action, Reason
from audit.refusals import FieldProblem, Invalid, NotFound, Refusal
from tools.effects import claims

MESSAGE_CHARACTERS = limit(
    "conversation.message", 32_000, "characters", "Length of one message to an agent."
)
MAX_OPEN_INPUTS = limit(
    "conversation.queue", 10, "count", "Messages of one conversation that may wait at once."
)
TITLE_CHARACTERS: Final = 60  # a title made from the first message
# 1 to 200 printable characters, no blank at either end (headers lose those on the way).
KEY: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?")


@dataclass(frozen=True)
class Accepted:
    """What acceptance answers; `created` is False when the key had been used before."""

    input_id: UUID
    run_id: UUID
    position: int
    status: str
    created: bool


@dataclass(frozen=True)
class Message:
    """What a member asks. `agent` is an id or a name; None means the conversation's agent."""

    text: str
    agent: str | None = None
    deployment_id: UUID | None = None

    @property
    def digest(self) -> str:
        """Binds an idempotency key to the content."""
        return canonical.digest(
            {
                "kind": "message",
                "message": self.text,
                "agent": self.agent,
                "deployment": str(self.deployment_id) if self.deployment_id else None,
            }
        )


def open_conversation(*, member: Member) -> Conversation:
    """A new empty conversation of the member."""
    with transaction.atomic():
        conversation = Conversation.objects.create(id=uuid4(), owner=member)
        open_stream(conversation.id)
    return conversation


def accept(*, member: Member, conversation_id: UUID, message: Message, key: str) -> Accepted:
    """Store one input and make its run claimable.

    The same key with the same message answers with the first acceptance and starts nothing;
    with another message it raises `Refusal(IDEMPOTENCY_CONFLICT)`. Keys of other members are
    unrelated. Raises `NotFound` for a conversation or agent the member cannot reach, `Invalid`
    for bad fields, `Refusal(BAD_JSON)` for text that cannot be stored, `Refusal(LIMIT_REACHED)`
    when too many inputs wait.
    """
    _check(message, key)
    with transaction.atomic():
        conversation = _locked(member, conversation_id)
        waiting = 0
        for row in _open_or_same_key(member, conversation, key):
            if row.idempotency_key == key and row.member_id == member.pk:
                return _earlier(row, message)
            waiting += 1
        if waiting >= MAX_OPEN_INPUTS:
            raise Refusal(Reason.LIMIT_REACHED, "Too many messages wait in this conversation.")
        return _write(member, conversation, message, key)


def stop(*, member: Member, conversation_id: UUID) -> list[UUID]:
    """Ask all open runs of a conversation to end; a repeat is a no-op. Needs no model."""
    with transaction.atomic():
        conversation = Conversation.objects.editable_by(member).filter(id=conversation_id).first()
        if conversation is None:
            raise NotFound()
        stopped = claims.request_stop(conversation.id)
        if stopped:
            funnel.record(
                action=Action.STOP_REQUESTED,
                actor=member.principal,
                outcome="success",
                subject=("conversation", str(conversation.id)),
                details={"runs": len(stopped)},
            )
            transaction.on_commit(publication.hurry_stop)
    return stopped


def _check(message: Message, key: str) -> None:
    faults: list[FieldProblem] = []
    if not message.text.strip():
        faults.append({"field": "message", "reason": str(Reason.MISSING_FIELD)})
    elif len(message.text) > MESSAGE_CHARACTERS:
        faults.append({"field": "message", "reason": str(Reason.TOO_LONG)})
    if faults:
        raise Invalid(faults)
    canonical.check([message.text, message.agent])
    if not KEY.fullmatch(key):
        raise Refusal(
            Reason.IDEMPOTENCY_KEY_INVALID, "A key has 1 to 200 printable ASCII characters."
        )


def _locked(member: Member, conversation_id: UUID) -> Conversation:
    """The conversation, locked so that acceptances run one by one."""
    rows = Conversation.objects.editable_by(member).filter(id=conversation_id)
    conversation: Conversation | None = rows.select_for_update().first()
    if conversation is None:
        raise NotFound()
    return conversation


def _open_or_same_key(member: Member, conversation: Conversation, key: str) -> Iterable[Input]:
    """What decides about acceptance, read once after the lock: a few rows at most."""
    same_key = Q(member_id=member.pk, idempotency_key=key)
    rows: Iterable[Input] = Input.objects.filter(
        same_key | Q(status__in=OPEN_STATUSES), conversation_id=conversation.id
    )
    return rows


def _earlier(row: Input, message: Message) -> Accepted:
    """The acceptance this key stands for, if it was for the same message."""
    if row.body_digest != message.digest:
        raise Refusal(Reason.IDEMPOTENCY_CONFLICT, "This key was used for another message.")
    return Accepted(row.id, row.run_id, row.accepted_position, row.status, created=False)


def _write(member: Member, conversation: Conversation, message: Message, key: str) -> Accepted:
    agent = _agent(member, conversation, message.agent)
    input_id, run_id = uuid4(), uuid4()
    (entry,) = append(
        conversation.id,
        [
            Draft(
                Kind.INPUT_ACCEPTED,
                {
                    "kind": "message",
                    "message": message.text,
                    "agent": {"id": str(agent.id), "name": agent.name},
                    "author": {"id": str(member.pk), "name": member.name_shown()},
                },
            )
        ],
        run_id=run_id,
        input_id=input_id,
    )
    Input.objects.create(
        id=input_id,
        conversation=conversation,
        member=member,
        agent=agent,
        deployment_id=message.deployment_id,
        message=message.text,
        idempotency_key=key,
        body_digest=message.digest,
        run_id=run_id,
        accepted_position=entry.position,
    )
    claims.enqueue(run_id, lane=conversation.id, ordinal=entry.position)
    Conversation.objects.filter(id=conversation.id).update(
        agent=agent,
        active_at=Now(),
        read_position=entry.position,
        title=conversation.title or _title(message.text),
    )
    transaction.on_commit(publication.wake_workers)
    return Accepted(input_id, run_id, entry.position, InputStatus.QUEUED, True)


def _agent(member: Member, conversation: Conversation, named: str | None) -> Agent:
    usable = Agent.objects.usable_by(member).filter(mode="chat")
    if named is None:
        wanted = conversation.agent_id or default_agent_id()
        found = usable.filter(id=wanted).first()
    else:
        try:
            found = usable.filter(id=UUID(named)).first()
        except ValueError:
            found = usable.filter(name=named).order_by("-protected", "created_at").first()
    if found is None:
        raise Invalid([{"field": "agent", "reason": str(Reason.NOT_FOUND)}])
    return found  # type: ignore[no-any-return]  # querysets are typed as Any rows


def _title(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= TITLE_CHARACTERS:
        return line
    return line[:TITLE_CHARACTERS].rsplit(" ", 1)[0].rstrip(",;:.") + "…"


def claimed(run_id: UUID) -> Input:
    """The input a claimed run works, with its conversation, agent and member: for the worker that
    holds the claim, never for a door.
    """
    rows = Input.objects.select_related("conversation", "agent", "member")
    found: Input = rows.get(run_id=run_id)
    return found


def set_status(input_id: UUID, status: InputStatus) -> None:
    """Move an open input on, in the caller's transaction; an ended one stays as it is."""
    Input.objects.open().filter(id=input_id).update(status=status)

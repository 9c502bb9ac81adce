"""Accepting what members ask, and stopping it. Each is one transaction and safe to repeat."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from agents.conversations.models import OPEN_STATUSES, Conversation, Input, InputStatus
from agents.definitions import usable
from agents.definitions.bundling import default_agent_id
from agents.definitions.models import Agent, Mode
from agents.journal import publication
from agents.journal.append import Draft, append, open_stream
from agents.journal.frames import Kind
from agents.journal.prepared import Prepared, instances
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


LOCKED = instances(
    Conversation,
    lambda marks: (
        Conversation.objects.editable_by(marks.person("member"))
        .filter(id=marks.uuid("id"))
        # A turn that begins checks its reference to this row at commit, when it holds the journal
        # that acceptance wants next: a full lock would make the two wait for each other.
        .select_for_update(no_key=True)
    ),
)
# What decides about acceptance, read once after the lock: a few rows at most.
OPEN_OR_SAME_KEY = instances(
    Input,
    lambda marks: Input.objects.filter(
        Q(member_id=marks.integer("member"), idempotency_key=marks.text("key"))
        | Q(status__in=OPEN_STATUSES),
        conversation_id=marks.uuid("conversation"),
    ),
)


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
        for row in OPEN_OR_SAME_KEY.rows(member=member.pk, conversation=conversation.id, key=key):
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
    conversation = LOCKED.first(member=member.pk, id=conversation_id) if member.is_active else None
    if conversation is None:
        raise NotFound()
    return conversation


def _earlier(row: Input, message: Message) -> Accepted:
    """The acceptance this key stands for, if it was for the same message."""
    if row.body_digest != message.digest:
        raise Refusal(Reason.IDEMPOTENCY_CONFLICT, "This key was used for another message.")
    return Accepted(row.id, row.run_id, row.accepted_position, row.status, created=False)


def _write(member: Member, conversation: Conversation, message: Message, key: str) -> Accepted:
    agent = _agent(member, conversation, message.agent)
    transaction.on_commit(publication.wake_workers)  # before the frames: it is waited for
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
    return Accepted(input_id, run_id, entry.position, InputStatus.QUEUED, True)


def _agent(member: Member, conversation: Conversation, named: str | None) -> Agent:
    found: Agent | None
    wanted = conversation.agent_id or default_agent_id() if named is None else _as_id(named)
    if wanted is not None:
        found = usable.by_id(member, wanted)
    else:
        named_so = Agent.objects.usable_by(member).filter(name=named, mode=Mode.CHAT)
        found = named_so.order_by("-protected", "created_at").first()
    if found is None or found.mode != Mode.CHAT:
        raise Invalid([{"field": "agent", "reason": str(Reason.NOT_FOUND)}])
    return found


def _as_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _title(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= TITLE_CHARACTERS:
        return line
    return line[:TITLE_CHARACTERS].rsplit(" ", 1)[0].rstrip(",;:.") + "…"


class Claimed(NamedTuple):
    """The input a claimed run works, with what its turn needs of conversation, agent and member."""

    id: UUID
    conversation_id: UUID
    conversation_deleted_at: datetime | None
    agent_id: UUID
    agent_name: str
    deployment_id: UUID | None
    message: str
    created_at: datetime
    member_id: int
    member_is_active: bool
    member_username: str
    member_display_name: str
    time_zone: str


CLAIMED = Prepared(
    Claimed._make,
    lambda marks: Input.objects.filter(run_id=marks.uuid("run")).values_list(
        *("id", "conversation_id", "conversation__deleted_at", "agent_id", "agent__name"),
        *("deployment_id", "message", "created_at", "member_id", "member__is_active"),
        *("member__username", "member__display_name", "member__time_zone"),
    ),
)


def claimed(run_id: UUID) -> Claimed:
    """The input of a run: for the worker that holds the claim, never for a door.

    Raises `LookupError` for a run without an input.
    """
    found = CLAIMED.first(run=run_id)
    if found is None:
        raise LookupError(f"no input for run {run_id}")
    return found


def set_status(input_id: UUID, status: InputStatus) -> None:
    """Move an open input on, in the caller's transaction; an ended one stays as it is."""
    Input.objects.open().filter(id=input_id).update(status=status)

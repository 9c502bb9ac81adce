"""Accepting what members ask, and stopping it. Each is one transaction and safe to repeat."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID, uuid4

from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import Q, QuerySet, Subquery, UUIDField, Value
from django.db.models.functions import Coalesce, Now

from agents.conversations import branches, endings, gates, questions
from agents.conversations.branches import Place
from agents.conversations.models import (
    OPEN_STATUSES,
    Conversation,
    Input,
    InputKind,
    InputStatus,
)
from agents.definitions import usable
from agents.definitions.bundling import default_agent_id
from agents.definitions.models import Agent, AgentVersion, Mode
from agents.journal import publication
from agents.journal.append import Draft, append, open_stream
from agents.journal.frames import Kind
from agents.journal.prepared import Asked, Change, Insertion, Marks, Prepared, instances, together
from agents.members.models import Member
from audit import canonical, funnel
from audit.limits import limit
from audit.reasons import Action, Reason
from audit.refusals import Conflict, FieldProblem, Invalid, NotFound, Refusal
from tools.boundary.models import FamilyPolicy
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


def _usual(marks: Marks) -> QuerySet[Agent]:
    """The agent a conversation talks to: the one chosen last, else the default."""
    chosen = Conversation.objects.filter(id=marks.uuid("conversation")).values("agent_id")
    return Agent.objects.usable_by(marks.person("member")).filter(
        id=Coalesce(Subquery(chosen), Value(default_agent_id(), UUIDField()))
    )


USUAL = instances(Agent, _usual)
ADDED = Insertion(Input)
TOUCHED = Change(
    lambda marks: (
        Conversation.objects.filter(id=marks.uuid("conversation")),
        {
            "agent": marks.uuid("agent"),
            "active_input": marks.uuid("input"),
            "active_at": Now(),
            "read_position": marks.integer("position"),
            "title": marks.text("title"),
        },
    )
)
MOVED_ON = Change(
    lambda marks: (
        Input.objects.open().filter(id=marks.uuid("id")),
        {"status": marks.text("status")},
    )
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
    """What a member asks. `agent` is an id or a name; None means the conversation's agent.

    With `replaces` it becomes a sibling of that input, for the same agent and deployment unless
    others are named.
    """

    text: str
    agent: str | None = None
    deployment_id: UUID | None = None
    replaces: UUID | None = None
    kind: InputKind = InputKind.MESSAGE

    @property
    def digest(self) -> str:
        """Binds an idempotency key to the content."""
        content = {
            "kind": str(self.kind),
            "message": self.text,
            "agent": self.agent,
            "deployment": str(self.deployment_id) if self.deployment_id else None,
        }
        if self.replaces is not None:
            content["replaces"] = str(self.replaces)
        return canonical.digest(content)


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
    when too many inputs wait, and what `gates` raise.
    """
    _check(message, key)
    if not member.is_active:
        raise NotFound()
    with transaction.atomic(), together():
        locked = LOCKED.ask(member=member.pk, id=conversation_id)
        others = OPEN_OR_SAME_KEY.ask(member=member.pk, conversation=conversation_id, key=key)
        usual = USUAL.ask(member=member.pk, conversation=conversation_id)
        conversation = locked.first()
        if conversation is None:
            raise NotFound()
        waiting = 0
        for row in others.rows():
            if row.idempotency_key == key and row.member_id == member.pk:
                return _earlier(row, message)
            waiting += 1
        if waiting >= MAX_OPEN_INPUTS:
            raise Refusal(Reason.LIMIT_REACHED, "Too many messages wait in this conversation.")
        place = _place(conversation, message, waiting)
        named = place.agent if message.agent is None else message.agent
        talks_to = usual.first()
        agent = talks_to if named is None else _named(member, named)
        if agent is None or not _fits(conversation, talks_to, agent):
            raise Invalid([{"field": "agent", "reason": str(Reason.NOT_FOUND)}])
        gates.check(member, message.deployment_id)
        return _write(member, conversation, agent, message, place, key)


def compact(*, member: Member, conversation_id: UUID, key: str) -> Accepted:
    """Have what was said so far summed up, by a run of its own; accepted like a message.

    Raises `Conflict(CONFLICT)` where nothing has been said since the last time.
    """
    message = Message("", kind=InputKind.COMPACTION)
    return accept(member=member, conversation_id=conversation_id, message=message, key=key)


def stop(*, member: Member, conversation_id: UUID) -> list[UUID]:
    """Ask all open runs of a conversation to end; a repeat is a no-op. Needs no model.

    What nobody works yet ends here and now; the others end with the worker that holds them.
    """
    with transaction.atomic():
        conversation = LOCKED.first(member=member.pk, id=conversation_id)
        if conversation is None or not member.is_active:
            raise NotFound()
        stopped = claims.request_stop(conversation.id)
        endings.end_all(member, conversation.id, Reason.STOPPED)
        questions.give_up(stopped, actor=member.principal)
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
    if not message.text.strip() and message.kind is InputKind.MESSAGE:
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


def _earlier(row: Input, message: Message) -> Accepted:
    """The acceptance this key stands for, if it was for the same message."""
    if row.body_digest != message.digest:
        raise Refusal(Reason.IDEMPOTENCY_CONFLICT, "This key was used for another message.")
    return Accepted(row.id, row.run_id, row.accepted_position, row.status, created=False)


def _place(conversation: Conversation, message: Message, waiting: int) -> Place:
    """Where a new input goes; what is not simply the next one has to wait for the end of a turn."""
    is_next = message.kind is InputKind.MESSAGE and message.replaces is None
    if waiting and not is_next:
        raise Conflict(Reason.TURN_OPEN, branches.BUSY)
    if message.replaces is not None:
        return branches.beside(conversation, message.replaces)
    if not is_next and not branches.has_more_to_sum_up(conversation):
        raise Conflict(Reason.CONFLICT, "There is nothing to sum up yet.")
    return Place(conversation.active_input_id)


def _write(
    member: Member,
    conversation: Conversation,
    agent: Agent,
    message: Message,
    place: Place,
    key: str,
) -> Accepted:
    transaction.on_commit(publication.wake_workers)  # before the frames: it is waited for
    input_id, run_id = uuid4(), uuid4()
    (entry,) = append(
        conversation.id,
        [
            Draft(
                Kind.INPUT_ACCEPTED,
                {
                    "kind": str(message.kind),
                    "message": message.text,
                    "agent": {"id": str(agent.id), "name": agent.name},
                    "author": {"id": str(member.pk), "name": member.name_shown()},
                    **place.told(),
                },
            )
        ],
        run_id=run_id,
        input_id=input_id,
    )
    ADDED.add(
        Input(
            id=input_id,
            conversation_id=conversation.id,
            member_id=member.pk,
            agent_id=agent.id,
            kind=message.kind,
            parent_id=place.parent_id,
            replaces_id=place.replaces_id,
            deployment_id=message.deployment_id or place.deployment_id,
            message=message.text,
            idempotency_key=key,
            body_digest=message.digest,
            run_id=run_id,
            accepted_position=entry.position,
        )
    )
    claims.enqueue(run_id, lane=conversation.id, ordinal=entry.position)
    TOUCHED.make(
        conversation=conversation.id,
        agent=agent.id,
        input=input_id,
        position=entry.position,
        title=conversation.title or _title(message.text),
    )
    return Accepted(input_id, run_id, entry.position, InputStatus.QUEUED, True)


def _fits(conversation: Conversation, talks_to: Agent | None, agent: Agent) -> bool:
    """A conversation stays on its surface: search agents answer there or agents to chat with."""
    if conversation.agent_id in (None, agent.id):
        return True
    if talks_to is not None and talks_to.id == conversation.agent_id:
        return bool(talks_to.mode == agent.mode)
    # Rare: the agent it talked to can no longer be used.
    return Agent.objects.filter(id=conversation.agent_id, mode=agent.mode).exists()


def _named(member: Member, named: str) -> Agent | None:
    """The agent a member means by an id or a name, if they may use it."""
    wanted = _as_id(named)
    if wanted is not None:
        return usable.by_id(member, wanted)
    named_so = Agent.objects.usable_by(member).filter(name=named, mode=Mode.CHAT)
    return named_so.order_by("-protected", "created_at").first()


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
    kind: str
    created_at: datetime
    member_id: int
    member_is_active: bool
    member_username: str
    member_display_name: str
    time_zone: str
    plain_speak: bool
    compress_tool_results: bool
    effort: str
    families_off: list[str]


CLAIMED = Prepared(
    Claimed._make,
    lambda marks: Input.objects.filter(run_id=marks.uuid("run")).values_list(
        *("id", "conversation_id", "conversation__deleted_at", "agent_id", "agent__name"),
        *("deployment_id", "message", "kind", "created_at", "member_id", "member__is_active"),
        *("member__username", "member__display_name", "member__time_zone"),
        *("member__plain_speak", "member__compress_tool_results", "member__effort"),
        ArraySubquery(FamilyPolicy.switched_off()),
    ),
)

# The newest version of the agent a run asks, while its member may use it.
VERSION = instances(
    AgentVersion,
    lambda marks: usable.newest_versions(
        marks.person_of("(SELECT member_id FROM conversations_input WHERE run_id = %s)", "run"),
        Input.objects.filter(run_id=marks.uuid("run")).values("agent_id"),
    ),
)


def claimed(run_id: UUID) -> tuple[Asked[Claimed], Asked[AgentVersion]]:
    """The input of a run and the version that answers it: for the worker that holds the claim,
    never for a door.
    """
    return CLAIMED.ask(run=run_id), VERSION.ask(run=run_id)


def set_status(input_id: UUID, status: InputStatus) -> None:
    """Move an open input on, in the caller's transaction; an ended one stays as it is."""
    MOVED_ON.make(id=input_id, status=str(status))

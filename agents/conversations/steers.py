"""Messages to a turn that is being worked, as the member who asked sends, changes and withdraws
them. How a turn takes them up is `agents.turns.steering`.
"""

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid4

from django.db import connection, transaction

from agents.conversations.inputs import KEY, MESSAGE_CHARACTERS
from agents.conversations.models import Conversation, Steer, SteerState
from agents.journal.append import Draft, append
from agents.journal.frames import Kind
from agents.members.models import Member
from audit import canonical, funnel
from audit.limits import limit
from audit.reasons import Action, Reason
from audit.refusals import Conflict, Invalid, NotFound, Refusal

MAX_OPEN_STEERS = limit(
    "conversation.steers", 10, "count", "Messages to one running turn that may wait at once."
)

# Decides and writes in one statement, with the run locked: a turn that ends meanwhile is waited
# for, and then holds no lease. Only the database's clock knows whether a lease is live.
ACCEPT: Final = """
    INSERT INTO conversations_steer
           (id, conversation_id, member_id, run_id, message, idempotency_key, body_digest,
            number, state, reason, fence)
    SELECT %(id)s, input.conversation_id, input.member_id, run.run_id, %(message)s, %(key)s,
           %(digest)s, 0, 'pending', '', 0
      FROM effects_runclaim AS run
      JOIN conversations_input AS input ON input.run_id = run.run_id
      JOIN definitions_agent AS agent ON agent.id = input.agent_id AND agent.mode = 'chat'
     WHERE run.run_id = %(run)s AND run.state = 'running' AND run.settled_at IS NULL
       AND run.lease_until > clock_timestamp() AND run.stop_requested_at IS NULL
       AND input.conversation_id = %(conversation)s AND input.member_id = %(member)s
       AND input.kind = 'message'
       FOR NO KEY UPDATE OF run
    ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True)
class Accepted:
    """What acceptance answers. `number` orders the steers of a turn."""

    steer_id: UUID
    turn_id: UUID
    number: int
    created: bool


def accept(
    *, member: Member, conversation_id: UUID, turn_id: UUID, message: str, key: str
) -> Accepted:
    """Store one message to a running turn, in the order of acceptance.

    The same key with the same message answers with the first acceptance; with another one it
    raises `Refusal(IDEMPOTENCY_CONFLICT)`. Raises `NotFound` for a conversation the member cannot
    write into, `Invalid` for a bad message, `Refusal(LIMIT_REACHED)` when too many wait, and
    `Conflict(TURN_NOT_LIVE)` unless the turn answers this member under a live lease, nobody has
    asked it to stop, and it is no search, which answers one question.
    """
    check(message)
    if not KEY.fullmatch(key):
        raise Refusal(
            Reason.IDEMPOTENCY_KEY_INVALID, "A key has 1 to 200 printable ASCII characters."
        )
    if not Conversation.objects.editable_by(member).filter(id=conversation_id).exists():
        raise NotFound()
    with transaction.atomic():
        return write(member, conversation_id, turn_id, message, key)


def write(member: Member, conversation_id: UUID, turn_id: UUID, message: str, key: str) -> Accepted:
    """`accept` after its checks, in the caller's transaction."""
    digest = canonical.digest({"message": message, "turn_id": str(turn_id)})
    steer_id = uuid4()
    with connection.cursor() as cursor:
        cursor.execute(
            ACCEPT,
            {
                "id": steer_id,
                "conversation": conversation_id,
                "member": member.pk,
                "run": turn_id,
                "message": message,
                "key": key,
                "digest": digest,
            },
        )
        written = cursor.rowcount == 1
    mine = Steer.objects.filter(member=member, conversation_id=conversation_id)
    if not written:
        return _earlier(mine.filter(idempotency_key=key).first(), digest)
    if Steer.objects.open().filter(run_id=turn_id).count() > MAX_OPEN_STEERS:
        raise Refusal(Reason.LIMIT_REACHED, "Too many messages wait for this turn.")
    number = _announce(conversation_id, turn_id, steer_id, message)
    mine.filter(id=steer_id).update(number=number)
    funnel.record(
        action=Action.STEER_ACCEPTED,
        actor=member.principal,
        outcome="success",
        subject=("conversation", str(conversation_id)),
        run_id=turn_id,
    )
    return Accepted(steer_id, turn_id, number, created=True)


def edit(*, member: Member, conversation_id: UUID, steer_id: UUID, message: str) -> Steer:
    """Change a message that was not handed over yet; its place in the order stays.

    Raises `NotFound`, `Invalid`, and `Conflict(CONFLICT)` when the turn has it already.
    """
    check(message)
    with transaction.atomic():
        steer = _changeable(member, conversation_id, steer_id)
        if steer.message != message:
            _change(steer, message=message)
            _announce(conversation_id, steer.run_id, steer.id, message)
    return steer


def withdraw(*, member: Member, conversation_id: UUID, steer_id: UUID) -> None:
    """Take a message back that was not handed over yet; a repeat changes nothing.

    Raises `NotFound`, and `Conflict(CONFLICT)` when the turn has it already.
    """
    with transaction.atomic():
        gone = Steer.objects.visible_to(member).filter(
            id=steer_id, conversation_id=conversation_id, reason=Reason.WITHDRAWN
        )
        if gone.exists():
            return
        take_back(member, conversation_id, steer_id)


def take_back(member: Member, conversation_id: UUID, steer_id: UUID) -> Steer:
    """Withdraw a message in the caller's transaction; raises as `withdraw`, also for a repeat."""
    steer = _changeable(member, conversation_id, steer_id)
    _change(steer, state=SteerState.REJECTED, reason=str(Reason.WITHDRAWN))
    append(conversation_id, [rejected(steer.id, Reason.WITHDRAWN)], run_id=steer.run_id)
    return steer


def rejected(steer_id: UUID, reason: Reason) -> Draft:
    """The frame that says that a steer will not be applied."""
    return Draft(Kind.STEER_REJECTED, {"steer_id": str(steer_id), "reason": str(reason)})


def told_before(member: Member, conversation_id: UUID, key: str) -> Accepted | None:
    """The acceptance a key stands for, if there is one."""
    rows = Steer.objects.filter(member=member, conversation_id=conversation_id)
    row: Steer | None = rows.filter(idempotency_key=key).first()
    if row is None:
        return None
    return Accepted(row.id, row.run_id, row.number, created=False)


def check(message: str) -> None:
    """Raise `Invalid`, or `Refusal(BAD_JSON)` for text that cannot be stored."""
    canonical.check(message)
    if not message.strip():
        raise Invalid([{"field": "message", "reason": str(Reason.TOO_SHORT)}])
    if len(message) > MESSAGE_CHARACTERS:
        raise Invalid([{"field": "message", "reason": str(Reason.TOO_LONG)}])


def _announce(conversation_id: UUID, turn_id: UUID, steer_id: UUID, message: str) -> int:
    """Journal a steer as it now reads; its position."""
    data = {"steer_id": str(steer_id), "message": message, "turn_id": str(turn_id)}
    (entry,) = append(conversation_id, [Draft(Kind.STEER_ACCEPTED, data)], run_id=turn_id)
    return entry.position


def _earlier(row: Steer | None, digest: str) -> Accepted:
    """The acceptance a key stands for, if it was for the same message."""
    if row is None:
        raise Conflict(Reason.TURN_NOT_LIVE, "That turn is not being worked for you.")
    if row.body_digest != digest:
        raise Refusal(Reason.IDEMPOTENCY_CONFLICT, "This key was used for another message.")
    return Accepted(row.id, row.run_id, row.number, created=False)


def _changeable(member: Member, conversation_id: UUID, steer_id: UUID) -> Steer:
    """The member's steer, locked until the end of the transaction."""
    mine = Steer.objects.visible_to(member).filter(id=steer_id, conversation_id=conversation_id)
    steer: Steer | None = mine.changeable().select_for_update(of=("self",)).first()
    if steer is not None:
        return steer
    if not mine.exists():
        raise NotFound()
    raise Conflict(Reason.CONFLICT, "That message has been handed to the agent already.")


def _change(steer: Steer, **values: Any) -> None:
    """What a lost worker had claimed is pending again as soon as its author touches it."""
    pending = {"state": SteerState.PENDING, "claimed_until": None}
    for name, value in (pending | values).items():
        setattr(steer, name, value)
    steer.save(update_fields=[*pending, *(values.keys() - pending.keys())])

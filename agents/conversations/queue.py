"""Inputs that wait for their turn: listed, changed, taken back, told to the running turn instead,
or asked afterwards instead of being told.

Only what no worker has taken can change. Everybody locks the conversation first, then runs, then
the journal.
"""

from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction

from agents.conversations import endings, inputs, steers
from agents.conversations.models import Conversation, Input, InputKind, InputStatus
from agents.journal import publication
from agents.journal.append import Draft, append
from agents.journal.frames import Kind
from agents.members.models import Member
from audit.reasons import Reason
from audit.refusals import Conflict, NotFound

HOLD: Final = (
    "SELECT 1 FROM effects_runclaim"
    " WHERE run_id = %s AND state = 'queued' AND fence = 0 AND settled_at IS NULL FOR UPDATE"
)
END: Final = (
    "UPDATE effects_runclaim SET state = 'settled', settled_at = clock_timestamp()"
    " WHERE run_id = %s"
)


def listed(*, member: Member, conversation_id: UUID) -> list[dict[str, Any]]:
    """What waits in a conversation, first to be worked first; raises `NotFound`."""
    if not Conversation.objects.visible_to(member).filter(id=conversation_id).exists():
        raise NotFound()
    return _items(conversation_id)


def edit(*, member: Member, conversation_id: UUID, input_id: UUID, message: str) -> Input:
    """Change what waits; its place stays.

    Raises `NotFound`, `Invalid` for a bad message, and `Conflict(CONFLICT)` once it is worked.
    """
    steers.check(message)
    with transaction.atomic():
        row = _mine(member, conversation_id, input_id)
        _hold(row)
        if row.message != message:
            row.message = message
            row.save(update_fields=["message"])
            _announce(row, {"message": message})
    return row


def withdraw(*, member: Member, conversation_id: UUID, input_id: UUID) -> None:
    """Take back what waits; a repeat changes nothing, nor does it after a stop.

    Raises `NotFound`, and `Conflict(CONFLICT)` once it is worked.
    """
    with transaction.atomic():
        row = _mine(member, conversation_id, input_id)
        if row.status != InputStatus.CANCELLED:
            _hold(row)
            _take_out(row, member, Reason.WITHDRAWN)


def tell(*, member: Member, conversation_id: UUID, input_id: UUID) -> steers.Accepted:
    """Tell the running turn what waits, instead of asking it afterwards; a repeat gives the same
    answer.

    Raises `NotFound`, `Conflict(CONFLICT)` once it is worked by itself, and what `steers.accept`
    raises.
    """
    key = f" input {input_id}"  # begins with a blank, as no caller's key does
    with transaction.atomic():
        row = _mine(member, conversation_id, input_id)
        earlier = steers.told_before(member, conversation_id, key)
        if earlier is not None:
            return earlier
        _hold(row)
        working = Input.objects.filter(
            conversation_id=conversation_id, member=member, status=InputStatus.ACTIVE
        ).first()
        if working is None:
            raise Conflict(Reason.TURN_NOT_LIVE, "No turn is being worked for you.")
        told = steers.write(member, conversation_id, working.run_id, row.message, key)
        _take_out(row, member, Reason.STEERED)
    return told


def put(*, member: Member, conversation_id: UUID, steer_id: UUID) -> inputs.Accepted:
    """Ask what a turn was told as a message of its own, instead of telling it; a repeat gives the
    same answer. Either both happen or the turn is still told.

    Raises `NotFound`, `Conflict(CONFLICT)` once the turn has it or it was withdrawn, and what
    `inputs.accept` raises.
    """
    key = f"steer {steer_id}"
    with transaction.atomic():
        _lock(member, conversation_id)
        earlier = Input.objects.filter(
            conversation_id=conversation_id, member=member, idempotency_key=key
        ).first()
        if earlier is not None:
            position, status = earlier.accepted_position, earlier.status
            return inputs.Accepted(earlier.id, earlier.run_id, position, status, created=False)
        message = inputs.Message(steers.take_back(member, conversation_id, steer_id).message)
        return inputs.accept(
            member=member, conversation_id=conversation_id, message=message, key=key
        )


def _lock(member: Member, conversation_id: UUID) -> None:
    """Hold a conversation until the transaction ends; raises `NotFound`."""
    editable = Conversation.objects.editable_by(member).filter(id=conversation_id)
    if editable.select_for_update(no_key=True).first() is None:
        raise NotFound()


def _mine(member: Member, conversation_id: UUID, input_id: UUID) -> Input:
    """The member's input, its conversation locked until the transaction ends."""
    _lock(member, conversation_id)
    row: Input | None = Input.objects.filter(
        conversation_id=conversation_id, member=member, kind=InputKind.MESSAGE, id=input_id
    ).first()
    if row is None:
        raise NotFound()
    return row


def _hold(row: Input) -> None:
    """Keep a waiting input from workers until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(HOLD, [row.run_id])
        if cursor.fetchone() is None:
            raise Conflict(Reason.CONFLICT, "That message is being answered already.")
    transaction.on_commit(publication.wake_workers)  # one may have passed it by meanwhile


def _take_out(row: Input, member: Member, reason: Reason) -> None:
    """End a held input for good; what comes next follows on what it followed on."""
    with connection.cursor() as cursor:
        cursor.execute(END, [row.run_id])
    endings.end(row, member, reason)
    Conversation.objects.filter(id=row.conversation_id, active_input_id=row.id).update(
        active_input_id=row.parent_id
    )
    _announce(row)


def _announce(row: Input, private: dict[str, Any] | None = None) -> None:
    """Say how the queue looks now; `private` is what a model is to see of the input instead."""
    append(
        row.conversation_id,
        [Draft(Kind.QUEUE_CHANGED, {"items": _items(row.conversation_id)}, private)],
        run_id=row.run_id,
        input_id=row.id,
    )


def item(row: Input) -> dict[str, Any]:
    """A waiting input as people see it; `position` is that of its acceptance."""
    return {
        "input_id": str(row.id),
        "message": row.message,
        "position": row.accepted_position,
    }


def _items(conversation_id: UUID) -> list[dict[str, Any]]:
    waiting = Input.objects.filter(
        conversation_id=conversation_id, status=InputStatus.QUEUED, kind=InputKind.MESSAGE
    )
    return [item(row) for row in waiting.order_by("accepted_position")]

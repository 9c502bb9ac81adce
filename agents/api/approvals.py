"""Calls that wait for the caller's decision: list, read, decide, take back.

Only the member who is asked sees them. A decision names the digest of the call it is about, so
that nothing else than what was shown can be approved.
"""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from rest_framework import serializers

from agents.api.fields import Anything, Id, Strict, Text, Whole
from agents.api.operations import Call, Door, Effect, Operation, operation
from agents.api.pages import Order, page
from agents.api.shapes import Paging, page_of
from agents.turns import decisions
from audit.refusals import NotFound
from tools.boundary.approvals import DECIDED, OUTCOMES, REASON_CHARACTERS
from tools.boundary.models import Approval, ApprovalState

TAG: Final = "approvals"
EFFECTS: Final = ("write", "sensitive")
DIGEST_CHARACTERS: Final = 71
TARGET_CHARACTERS: Final = 1_000
# What a caller sees of a state; whether an approved call has been made is the turn's to tell.
STATES: Final = ("unasked", "answered", "pending", *sorted(set(OUTCOMES.values())))


class ApprovalItem(serializers.Serializer[Any]):
    """A call in a list. `unasked` calls wait for their member to come before they are asked."""

    id = Id()
    state = serializers.ChoiceField(choices=STATES)
    tool = Text(100)
    label = Text(200)  # type: ignore[assignment]  # the name that frames give it
    effect = serializers.ChoiceField(choices=EFFECTS)
    target = Text(TARGET_CHARACTERS, allow_blank=True)
    digest = Text(DIGEST_CHARACTERS)
    conversation_id = Id()
    turn_id = Id()
    call_id = Text(100)
    agent_id = Id()
    agent_version = Whole()
    reason = Text(int(REASON_CHARACTERS), allow_blank=True)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    decided_at = serializers.DateTimeField(allow_null=True)


class ApprovalDetail(ApprovalItem):
    """One call with its exact arguments, from the bytes that the digest was made of."""

    arguments = Anything()


class DecisionBody(Strict):
    """What the member decides about the call that has this digest."""

    decision = serializers.ChoiceField(choices=sorted(DECIDED))
    digest = Text(DIGEST_CHARACTERS)
    reason = Text(int(REASON_CHARACTERS), required=False, allow_blank=True)


class ApprovalAnswered(serializers.Serializer[Any]):
    """The call that will be asked about; its question comes as an event of the conversation."""

    id = Id()


class ApprovalDecided(serializers.Serializer[Any]):
    """How a call was settled; the same bytes for a repeat of the same decision."""

    id = Id()
    outcome = serializers.ChoiceField(choices=sorted(set(OUTCOMES.values())))
    reason = Text(int(REASON_CHARACTERS), allow_blank=True)
    decided_at = serializers.DateTimeField()


WAITING_FIRST: Final = Order(
    fields=("waits", "created_at", "id"), read=(int, datetime.fromisoformat, UUID)
)


class Approvals(Door):
    """All calls the caller is or was asked about."""

    @operation(
        Operation("approvals_list", TAG, Effect.READ, query=Paging),
        summary="List the calls one was asked about, those that wait first.",
        answer=page_of(ApprovalItem),
    )
    def get(self, call: Call) -> Any:
        rows = Approval.objects.visible_to(call.member).defer("arguments").saying_which_wait()
        return page(rows, WAITING_FIRST, call, name="approvals", project=_item)


class OneApproval(Door):
    """One call that waits, or waited, for the caller."""

    @operation(
        Operation("approvals_read", TAG, Effect.READ),
        summary="Read the exact call that is to be decided.",
        answer=ApprovalDetail,
    )
    def get(self, call: Call, approval_id: UUID) -> Any:
        row = Approval.objects.visible_to(call.member).filter(id=approval_id).first()
        if row is None:
            raise NotFound()
        return {**_item(row), "arguments": row.arguments}

    @operation(
        Operation("approvals_decide", TAG, Effect.WRITE, body=DecisionBody),
        summary="Approve or deny a call; refused when it is settled, over or another call.",
        answer=ApprovalDecided,
    )
    def post(self, call: Call, approval_id: UUID) -> Any:
        settled = decisions.decide(
            member=call.member,
            approval_id=approval_id,
            decision=call.body["decision"],
            digest=call.body["digest"],
            reason=call.body.get("reason", ""),
        )
        return _decided(settled)


class ApprovalWithdrawal(Door):
    """Taking a question back."""

    @operation(
        Operation("approvals_withdraw", TAG, Effect.WRITE),
        summary="Take a question back before it is decided; a repeat changes nothing.",
        answer=ApprovalDecided,
    )
    def post(self, call: Call, approval_id: UUID) -> Any:
        return _decided(decisions.withdraw(member=call.member, approval_id=approval_id))


class ApprovalAnswer(Door):
    """Coming to a run that nobody watched."""

    @operation(
        Operation("approvals_answer", TAG, Effect.WRITE, status=202),
        summary="Have a call of an unwatched run asked about now; a repeat changes nothing.",
        answer=ApprovalAnswered,
    )
    def post(self, call: Call, approval_id: UUID) -> Any:
        decisions.answer(member=call.member, approval_id=approval_id)
        return {"id": str(approval_id)}


def _item(row: Approval) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "state": OUTCOMES.get(ApprovalState(row.state), row.state),
        "tool": row.tool,
        "label": row.label,
        "effect": row.effect,
        "target": row.target[:TARGET_CHARACTERS],
        "digest": row.digest,
        "conversation_id": str(row.conversation_id),
        "turn_id": str(row.run_id),
        "call_id": row.call_id,
        "agent_id": str(row.agent_id),
        "agent_version": row.agent_version,
        "reason": row.reason,
        "created_at": row.created_at.isoformat(),
        "expires_at": _moment(row.expires_at),
        "decided_at": _moment(row.decided_at),
    }


def _decided(row: Approval) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "outcome": OUTCOMES[ApprovalState(row.state)],
        "reason": row.reason,
        "decided_at": _moment(row.decided_at),
    }


def _moment(at: datetime | None) -> str | None:
    return at.isoformat() if at else None

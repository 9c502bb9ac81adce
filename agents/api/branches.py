"""Which way through a conversation is shown and continued."""

from typing import Any
from uuid import UUID

from rest_framework import serializers

from agents.api.conversations import TAG
from agents.api.fields import Id, Strict
from agents.api.operations import Call, Door, Effect, Operation, operation
from agents.conversations import branches


class BranchBody(Strict):
    """An input that the branch goes through."""

    input_id = Id()


class Branch(serializers.Serializer[Any]):
    """The newest input of the branch that is shown now."""

    active_input = Id()


class ConversationBranch(Door):
    """The branch of a conversation."""

    @operation(
        Operation("conversation_branch", TAG, Effect.WRITE, body=BranchBody),
        summary="Show another branch, down to its newest end; refused while a turn is open.",
        answer=Branch,
    )
    def post(self, call: Call, conversation_id: UUID) -> Any:
        end = branches.select(
            member=call.member, conversation_id=conversation_id, input_id=call.body["input_id"]
        )
        return {"active_input": str(end)}

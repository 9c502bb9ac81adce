"""What waits in a conversation for its turn: read, change, take back, tell the running turn."""

from typing import Any
from uuid import UUID

from rest_framework import serializers

from agents.api.conversations import TAG
from agents.api.fields import Id, Strict, Text, Whole, many
from agents.api.operations import Call, Door, Effect, Operation, operation
from agents.api.steering import SteerAccepted
from agents.conversations import projection, queue
from agents.conversations.inputs import MAX_OPEN_INPUTS, MESSAGE_CHARACTERS


class QueueItem(serializers.Serializer[Any]):
    """A message that waits; `position` is that of its acceptance."""

    input_id = Id()
    message = Text(int(MESSAGE_CHARACTERS))
    position = Whole()


class Queue(serializers.Serializer[Any]):
    """What waits, first to be worked first."""

    items = many(QueueItem(), MAX_OPEN_INPUTS)


class QueuedText(Strict):
    """What a waiting message is to say instead."""

    message = Text(int(MESSAGE_CHARACTERS))


class ConversationQueue(Door):
    """The messages that wait in a conversation."""

    @operation(
        Operation("conversation_queue_list", TAG, Effect.READ),
        summary="List what waits for its turn.",
        answer=Queue,
    )
    def get(self, call: Call, conversation_id: UUID) -> Any:
        return {"items": queue.listed(member=call.member, conversation_id=conversation_id)}


class OneInput(Door):
    """A message that waits."""

    @operation(
        Operation("conversation_inputs_update", TAG, Effect.WRITE, body=QueuedText),
        summary="Change a message that waits; refused once it is worked.",
        answer=QueueItem,
    )
    def patch(self, call: Call, conversation_id: UUID, input_id: UUID) -> Any:
        row = queue.edit(
            member=call.member,
            conversation_id=conversation_id,
            input_id=input_id,
            message=call.body["message"],
        )
        return queue.item(row)

    @operation(
        Operation("conversation_inputs_delete", TAG, Effect.WRITE, status=204, errors=(409,)),
        summary="Take back a message that waits; a repeat changes nothing.",
        answer=None,
    )
    def delete(self, call: Call, conversation_id: UUID, input_id: UUID) -> Any:
        queue.withdraw(member=call.member, conversation_id=conversation_id, input_id=input_id)


class InputSteer(Door):
    """A message that waits, told to the running turn instead."""

    @operation(
        Operation("conversation_inputs_steer", TAG, Effect.WRITE, status=202),
        summary="Tell the running turn what waits; a repeat gives the same answer.",
        answer=SteerAccepted,
    )
    def post(self, call: Call, conversation_id: UUID, input_id: UUID) -> Any:
        told = queue.tell(member=call.member, conversation_id=conversation_id, input_id=input_id)
        return projection.steer_acceptance(told)

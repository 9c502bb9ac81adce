"""Messages to a running turn: send, change, withdraw."""

from typing import Any
from uuid import UUID

from rest_framework import serializers

from agents.api.conversations import TAG, InputAccepted
from agents.api.fields import Id, Strict, Text, Whole
from agents.api.operations import Call, Door, Effect, Key, Operation, operation
from agents.conversations import projection, queue, steers
from agents.conversations.inputs import MESSAGE_CHARACTERS
from agents.conversations.models import SteerState


class SteerBody(Strict):
    """A message to a turn that is being worked."""

    message = Text(int(MESSAGE_CHARACTERS))
    turn_id = Id()


class SteerText(Strict):
    """What a waiting message is to say instead."""

    message = Text(int(MESSAGE_CHARACTERS))


class SteerAccepted(serializers.Serializer[Any]):
    """A message that the turn will read; positions order the messages of a turn."""

    steer_id = Id()
    accepted_position = Whole()
    status = serializers.ChoiceField(choices=[SteerState.PENDING.value])


class SteerItem(serializers.Serializer[Any]):
    """A message as it waits now."""

    steer_id = Id()
    turn_id = Id()
    message = Text(int(MESSAGE_CHARACTERS))


class ConversationSteers(Door):
    """Messages to a running turn."""

    @operation(
        Operation(
            "conversation_steer",
            TAG,
            Effect.WRITE,
            status=202,
            body=SteerBody,
            reads=projection.steering,
            key=Key.OWN,
        ),
        summary="Tell a running turn something; refused unless it can still be told.",
        answer=SteerAccepted,
    )
    def post(self, call: Call, conversation_id: UUID) -> Any:
        turn_id, message = call.body
        accepted = steers.accept(
            member=call.member,
            conversation_id=conversation_id,
            turn_id=turn_id,
            message=message,
            key=call.key or "",
        )
        return projection.steer_acceptance(accepted)


class OneSteer(Door):
    """A message that the turn has not taken up yet."""

    @operation(
        Operation("conversation_steers_update", TAG, Effect.WRITE, body=SteerText),
        summary="Change a message that waits; its place in the order stays.",
        answer=SteerItem,
    )
    def patch(self, call: Call, conversation_id: UUID, steer_id: UUID) -> Any:
        steer = steers.edit(
            member=call.member,
            conversation_id=conversation_id,
            steer_id=steer_id,
            message=call.body["message"],
        )
        return {
            "steer_id": str(steer.id),
            "turn_id": str(steer.run_id),
            "message": steer.message,
        }

    @operation(
        Operation("conversation_steers_delete", TAG, Effect.WRITE, status=204, errors=(409,)),
        summary="Withdraw a message that waits; a repeat changes nothing.",
        answer=None,
    )
    def delete(self, call: Call, conversation_id: UUID, steer_id: UUID) -> Any:
        steers.withdraw(member=call.member, conversation_id=conversation_id, steer_id=steer_id)


class SteerQueue(Door):
    """A message that the turn has not taken up, asked afterwards instead."""

    @operation(
        Operation("conversation_steers_queue", TAG, Effect.WRITE, status=202),
        summary="Ask a waiting message after the turn instead; a repeat gives the same answer.",
        answer=InputAccepted,
    )
    def post(self, call: Call, conversation_id: UUID, steer_id: UUID) -> Any:
        accepted = queue.put(member=call.member, conversation_id=conversation_id, steer_id=steer_id)
        return projection.acceptance(accepted)

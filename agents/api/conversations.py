"""Conversations: open, list, read, ask, replay, stop."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from rest_framework import serializers

from agents.api.fields import MAX_POSITION, Anything, Id, Lenient, Strict, Text, Whole, many
from agents.api.operations import Call, Door, Effect, Key, Operation, operation
from agents.api.pages import newest_first, page
from agents.api.shapes import AgentName, Paging, Person, page_of
from agents.conversations import inputs, projection
from agents.conversations.inputs import MESSAGE_CHARACTERS
from agents.conversations.models import Conversation, Input, InputStatus
from agents.definitions.models import Agent
from agents.journal import replay
from agents.journal.frames import Kind, frame
from audit.reasons import Reason
from audit.refusals import NotFound, Refusal

TAG: Final = "conversations"


class ConversationId(serializers.Serializer[Any]):
    """A conversation that was opened."""

    id = Id()


class ConversationItem(serializers.Serializer[Any]):
    """A conversation in a list. `unread` says whether something happened since it was read."""

    id = Id()
    title = Text(200, allow_blank=True)
    agent = AgentName(allow_null=True)
    head = Whole()
    unread = serializers.BooleanField()
    pinned = serializers.BooleanField()
    archived = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    active_at = serializers.DateTimeField()


class OpenTurn(serializers.Serializer[Any]):
    """The turn that is being worked, or waits to be."""

    turn_id = Id()
    input_id = Id()
    status = serializers.ChoiceField(choices=["queued", "active"])


class ConversationDetail(ConversationItem):
    """One conversation with who takes part and what runs in it.

    `active_input` is the newest input of the branch that is shown.
    """

    active_input = Id(allow_null=True)
    participants = many(Person(), 100)
    open_turn = OpenTurn(allow_null=True)


class ConversationQuery(Paging):
    """Filters: by agent id or name, by words of title or messages, archived ones instead."""

    agent = serializers.CharField(required=False, max_length=100)
    q = serializers.CharField(required=False, max_length=200)
    archived = serializers.BooleanField(required=False, default=False)


class InputBody(Strict):
    """What a member asks. Without `agent` the conversation's agent answers.

    `replaces` names an earlier input: an edit of it, or with the same message a retry. Both stay,
    and the new one is shown.
    """

    kind = serializers.ChoiceField(choices=["message"])
    message = Text(int(MESSAGE_CHARACTERS))
    agent = Text(100, required=False, allow_null=True)
    deployment = Id(required=False, allow_null=True)
    documents = serializers.ListField(child=Id(), required=False, max_length=50)
    replaces = Id(required=False, allow_null=True)


class InputAccepted(serializers.Serializer[Any]):
    """An input that will be worked. Read the events after `accepted_position`."""

    input_id = Id()
    accepted_position = Whole()
    status = serializers.ChoiceField(choices=[InputStatus.QUEUED.value])


class Stopping(serializers.Serializer[Any]):
    """How many open turns were asked to end."""

    stopping = Whole()


class EventsQuery(Lenient):
    """Events with a position greater than `after`."""

    after = serializers.IntegerField(required=False, default=0, min_value=0, max_value=MAX_POSITION)


class Frame(serializers.Serializer[Any]):
    """One durable event."""

    event = serializers.ChoiceField(choices=Kind.values)
    position = Whole(minimum=1)
    input_id = Id(allow_null=True)
    turn_id = Id(allow_null=True)
    at = serializers.DateTimeField()
    data = Anything()  # type: ignore[assignment]  # the name the contract gives it


class Events(serializers.Serializer[Any]):
    """Events in order and the newest position; ask again after the last one until they meet."""

    items = many(Frame(), replay.PAGE_ENTRIES)
    head = Whole()


class Conversations(Door):
    """All conversations of the caller."""

    @operation(
        Operation("conversations_list", TAG, Effect.READ, query=ConversationQuery),
        summary="List one's conversations, the last active first.",
        answer=page_of(ConversationItem),
    )
    def get(self, call: Call) -> Any:
        rows = Conversation.objects.visible_to(call.member)
        rows = rows.archived() if call.query["archived"] else rows.kept()
        if "agent" in call.query:
            rows = rows.with_agent(call.query["agent"], call.member)
        if "q" in call.query:
            rows = rows.matching(call.query["q"])
        found = page(
            rows, newest_first("active_at"), call, name="conversations", project=lambda row: row
        )
        heads = replay.heads([row.id for row in found["items"]])
        names = _names(call, found["items"])
        found["items"] = [_item(row, heads.get(row.id, 0), names) for row in found["items"]]
        return found

    @operation(
        Operation("conversations_create", TAG, Effect.WRITE, status=201, key=Key.STORED),
        summary="Open a conversation.",
        answer=ConversationId,
    )
    def post(self, call: Call) -> Any:
        return {"id": str(inputs.open_conversation(member=call.member).id)}


class OneConversation(Door):
    """One conversation."""

    @operation(
        Operation("conversations_read", TAG, Effect.READ),
        summary="Read a conversation.",
        answer=ConversationDetail,
    )
    def get(self, call: Call, conversation_id: UUID) -> Any:
        conversation = _visible(call, conversation_id)
        open_input = Input.objects.open().filter(conversation=conversation)
        first = open_input.order_by("accepted_position").first()
        owner = conversation.owner
        return {
            **_item(conversation, replay.head(conversation.id), _names(call, [conversation])),
            "active_input": conversation.active_input_id and str(conversation.active_input_id),
            "participants": [{"id": str(owner.pk), "name": owner.name_shown()}],
            "open_turn": first
            and {
                "turn_id": str(first.run_id),
                "input_id": str(first.id),
                "status": first.status,
            },
        }


class ConversationInputs(Door):
    """What is asked in a conversation."""

    @operation(
        Operation(
            "conversation_inputs_create",
            TAG,
            Effect.WRITE,
            status=202,
            body=InputBody,
            reads=projection.message,
            key=Key.OWN,
        ),
        summary="Ask the agent something.",
        answer=InputAccepted,
    )
    def post(self, call: Call, conversation_id: UUID) -> Any:
        accepted = inputs.accept(
            member=call.member,
            conversation_id=conversation_id,
            message=call.body,
            key=call.key or "",
        )
        return projection.acceptance(accepted)


class ConversationEvents(Door):
    """What happened in a conversation, as JSON; `text/event-stream` is answered by streaming."""

    @operation(
        Operation("conversation_events_list", TAG, Effect.READ, query=EventsQuery),
        summary="Replay events after a position (as a stream with Accept: text/event-stream).",
        answer=Events,
    )
    def get(self, call: Call, conversation_id: UUID) -> Any:
        conversation = _visible(call, conversation_id)
        # The head first: a page may then hold more than it says, never less.
        head, after = replay.head(conversation.id), call.query["after"]
        if after > head:
            raise Refusal(Reason.INVALID_CURSOR, "The conversation has no such position yet.")
        entries = replay.after(conversation.id, after)
        return {"items": [frame(entry) for entry in entries], "head": head}


class ConversationStop(Door):
    """Stopping what runs in a conversation."""

    @operation(
        Operation("conversation_stop", TAG, Effect.WRITE, status=202),
        summary="Ask every open turn to end; a repeat changes nothing.",
        answer=Stopping,
    )
    def post(self, call: Call, conversation_id: UUID) -> Any:
        stopped = inputs.stop(member=call.member, conversation_id=conversation_id)
        return {"stopping": len(stopped)}


class ConversationCompact(Door):
    """Summing a conversation up."""

    @operation(
        Operation("conversation_compact", TAG, Effect.WRITE, status=202, key=Key.OWN),
        summary="Sum up what was said, so that the model reads less of it.",
        answer=InputAccepted,
    )
    def post(self, call: Call, conversation_id: UUID) -> Any:
        accepted = inputs.compact(
            member=call.member, conversation_id=conversation_id, key=call.key or ""
        )
        return projection.acceptance(accepted)


def _visible(call: Call, conversation_id: UUID) -> Conversation:
    found: Conversation | None = (
        Conversation.objects.visible_to(call.member)
        .select_related("owner")
        .filter(id=conversation_id)
        .first()
    )
    if found is None:
        raise NotFound()
    return found


def _names(call: Call, rows: Sequence[Conversation]) -> dict[UUID | None, str]:
    """The names of the agents that conversations talk to. What became of one that the caller may
    no longer use is not told: it may have another name by now.
    """
    agents = Agent.objects.visible_to(call.member).filter(id__in=[row.agent_id for row in rows])
    return dict(agents.values_list("id", "name"))


def _item(row: Conversation, head: int, names: Mapping[UUID | None, str]) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "title": row.title,
        "agent": row.agent_id and {"id": str(row.agent_id), "name": names.get(row.agent_id, "")},
        "head": head,
        "unread": row.read_position < head,
        "pinned": row.pinned_at is not None,
        "archived": row.archived_at is not None,
        "created_at": row.created_at.isoformat(),
        "active_at": row.active_at.isoformat(),
    }

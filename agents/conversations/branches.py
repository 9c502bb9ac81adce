"""Where an input stands in the tree of its conversation, and which way through it is shown.

An edit or a retry becomes a sibling of what it replaces; nothing is overwritten. The branch that is
shown and continued is the one that ends at the conversation's `active_input`.
"""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import transaction

from agents.conversations.models import Conversation, Input, InputKind
from agents.journal.append import Draft, append
from agents.journal.frames import Kind
from agents.members.models import Member
from audit.reasons import Reason
from audit.refusals import Conflict, Invalid, NotFound

SELECTED: Final = "branch_selected"
BUSY: Final = "Wait until the answer is finished, or stop it."


@dataclass(frozen=True)
class Place:
    """What a new input follows on, and the input whose sibling it is, if any.

    `agent` and `deployment_id` are those of the sibling.
    """

    parent_id: UUID | None
    replaces_id: UUID | None = None
    agent: str | None = None
    deployment_id: UUID | None = None

    def told(self) -> dict[str, str | None]:
        """As the frame of an acceptance says it."""
        return {
            "parent": str(self.parent_id) if self.parent_id else None,
            "replaces": str(self.replaces_id) if self.replaces_id else None,
        }


def beside(conversation: Conversation, replaces: UUID) -> Place:
    """The place beside an input of the conversation; raises `Invalid`."""
    replaced: Input | None = Input.objects.filter(
        conversation_id=conversation.id, id=replaces, kind=InputKind.MESSAGE
    ).first()
    if replaced is None:
        raise Invalid([{"field": "replaces", "reason": str(Reason.NOT_FOUND)}])
    return Place(replaced.parent_id, replaced.id, str(replaced.agent_id), replaced.deployment_id)


def has_more_to_sum_up(conversation: Conversation) -> bool:
    """Whether anything was asked on the active branch since it was summed up last."""
    if conversation.active_input_id is None:
        return False
    active = Input.objects.filter(id=conversation.active_input_id)
    return active.exclude(kind=InputKind.COMPACTION).exists()


def select(*, member: Member, conversation_id: UUID, input_id: UUID) -> UUID:
    """Show the branch that goes through an input, down to its newest end; answers with that end.

    An input of the branch that is shown already changes nothing. Raises `NotFound` for a
    conversation that the member cannot reach, `Invalid` for an input of another one, and
    `Conflict(TURN_OPEN)` while an answer is being worked.
    """
    with transaction.atomic():
        editable = Conversation.objects.editable_by(member).filter(id=conversation_id)
        conversation = editable.select_for_update(no_key=True).first()
        if conversation is None:
            raise NotFound()
        rows = Input.objects.filter(conversation_id=conversation.id)
        parents = dict(rows.order_by("accepted_position").values_list("id", "parent_id"))
        if input_id not in parents:
            raise Invalid([{"field": "input_id", "reason": str(Reason.NOT_FOUND)}])
        if input_id in _upwards(conversation.active_input_id, parents):
            return UUID(str(conversation.active_input_id))
        if rows.open().exists():
            raise Conflict(Reason.TURN_OPEN, BUSY)
        end = _end(input_id, parents)
        Conversation.objects.filter(id=conversation.id).update(active_input_id=end)
        data = {"code": SELECTED, "input_id": str(input_id), "end": str(end)}
        append(conversation.id, [Draft(Kind.NOTICE, data)])
    return end


def _upwards(input_id: UUID | None, parents: dict[UUID, UUID | None]) -> set[UUID]:
    """An input and all it follows on."""
    found = set()
    while input_id is not None:
        found.add(input_id)
        input_id = parents[input_id]
    return found


def _end(input_id: UUID, parents: dict[UUID, UUID | None]) -> UUID:
    """The newest of all that follows on an input; `parents` stands in the order of acceptance."""
    below = {input_id}
    end = input_id
    for each, parent in parents.items():
        if parent in below:
            below.add(each)
            end = each
    return end

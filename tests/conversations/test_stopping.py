"""Stop: every open run of the conversation, once, without a model."""

import pytest

from agents.conversations import inputs
from agents.conversations.models import Conversation
from agents.members.models import Member
from audit.models import AuditEvent
from tests.conversations.conftest import Ask
from tools.effects.models import RunClaim

pytestmark = pytest.mark.django_db


def stops(conversation: Conversation) -> list[tuple[str, dict[str, int]]]:
    rows = AuditEvent.objects.filter(action="stop_requested", subject_id=str(conversation.id))
    return [(row.actor, row.details) for row in rows]


@pytest.mark.req("INP-012")
def test_a_stop_reaches_every_open_run_and_a_repeat_changes_nothing(
    ask: Ask, alice: Member, conversation: Conversation
) -> None:
    asked = {ask("Hello", f"k{number}").run_id for number in range(3)}
    assert set(inputs.stop(member=alice, conversation_id=conversation.id)) == asked
    first = dict(RunClaim.objects.values_list("run_id", "stop_requested_at"))
    assert inputs.stop(member=alice, conversation_id=conversation.id) == []
    assert dict(RunClaim.objects.values_list("run_id", "stop_requested_at")) == first


def test_a_stop_with_nothing_open_is_no_action(alice: Member, conversation: Conversation) -> None:
    assert inputs.stop(member=alice, conversation_id=conversation.id) == []
    assert stops(conversation) == []


def test_a_stop_is_recorded_with_who_and_how_many(
    ask: Ask, alice: Member, conversation: Conversation
) -> None:
    ask("Hello", "k1")
    inputs.stop(member=alice, conversation_id=conversation.id)
    assert stops(conversation) == [(alice.principal, {"runs": 1})]


def test_other_conversations_go_on(ask: Ask, alice: Member, conversation: Conversation) -> None:
    elsewhere = inputs.open_conversation(member=alice)
    other = ask("Hello", "k1", where=elsewhere.id)
    inputs.stop(member=alice, conversation_id=conversation.id)
    assert RunClaim.objects.get(run_id=other.run_id).stop_requested_at is None

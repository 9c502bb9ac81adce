"""Renaming, pinning, archiving, reading and deleting: the owner's, and nobody else's."""

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from agents.conversations import inputs, keeping
from agents.conversations.models import Conversation, Input
from agents.journal import replay
from agents.members.models import Member
from audit.models import AuditEvent
from audit.reasons import Reason
from audit.refusals import Invalid, NotFound, Refusal
from tests.conversations.conftest import Ask
from tools.effects.models import RunClaim

pytestmark = pytest.mark.django_db

ACTS: list[Callable[[Member, UUID], None]] = [
    lambda who, where: keeping.rename(member=who, conversation_id=where, title="Mine now"),
    lambda who, where: keeping.switch(member=who, conversation_id=where, name="pinned", on=True),
    lambda who, where: keeping.switch(member=who, conversation_id=where, name="archived", on=True),
    lambda who, where: keeping.mark_read(member=who, conversation_id=where, position=1),
    lambda who, where: keeping.delete(member=who, conversation_id=where),
]


def seen(member: Member) -> list[UUID]:
    return list(Conversation.objects.visible_to(member).values_list("id", flat=True))


@pytest.mark.req("REPO-003")
@pytest.mark.parametrize("act", ACTS)
def test_nobody_elses_conversation_can_be_touched(
    conversation: Conversation, charlie: Member, act: Callable[[Member, UUID], None]
) -> None:
    before = Conversation.objects.filter(id=conversation.id).values().get()
    told = []
    for where in (conversation.id, uuid4()):
        with pytest.raises(NotFound) as refused:
            act(charlie, where)
        told.append((refused.value.reason, refused.value.message))
    assert told[0] == told[1]
    assert Conversation.objects.filter(id=conversation.id).values().get() == before
    assert not AuditEvent.objects.filter(actor=charlie.principal).exists()


@pytest.mark.parametrize("act", ACTS)
def test_a_deleted_conversation_is_gone_for_its_owner_too(
    conversation: Conversation, alice: Member, act: Callable[[Member, UUID], None]
) -> None:
    keeping.delete(member=alice, conversation_id=conversation.id)
    with pytest.raises(NotFound):
        act(alice, conversation.id)


def test_a_title_is_one_line_of_two_hundred_characters(
    conversation: Conversation, alice: Member
) -> None:
    keeping.rename(member=alice, conversation_id=conversation.id, title="  A \n good\tname ")
    conversation.refresh_from_db()
    assert conversation.title == "A good name"
    for bad in ("", " \n ", "x" * 201):
        with pytest.raises(Invalid):
            keeping.rename(member=alice, conversation_id=conversation.id, title=bad)
    keeping.rename(member=alice, conversation_id=conversation.id, title="x" * 200)


def test_a_title_that_cannot_be_stored_is_refused(
    conversation: Conversation, alice: Member
) -> None:
    for bad in ("nul \x00", "half \ud800"):
        with pytest.raises(Refusal) as refused:
            keeping.rename(member=alice, conversation_id=conversation.id, title=bad)
        assert refused.value.reason == Reason.BAD_JSON


def test_archiving_and_pinning_can_be_taken_back(conversation: Conversation, alice: Member) -> None:
    rows = Conversation.objects.visible_to(alice)
    for name, when_on in (("archived", rows.archived), ("pinned", None)):
        keeping.switch(member=alice, conversation_id=conversation.id, name=name, on=True)
        conversation.refresh_from_db()
        assert getattr(conversation, keeping.SWITCHES[name]) is not None
        if when_on:
            assert (list(when_on()), list(rows.kept())) == ([conversation], [])
        keeping.switch(member=alice, conversation_id=conversation.id, name=name, on=False)
        conversation.refresh_from_db()
        assert getattr(conversation, keeping.SWITCHES[name]) is None


def test_reading_never_goes_back(conversation: Conversation, alice: Member, ask: Ask) -> None:
    for number in range(4):
        ask("Hello", f"k{number}")
    for position in (2, 4, 1):
        keeping.mark_read(member=alice, conversation_id=conversation.id, position=position)
    conversation.refresh_from_db()
    assert conversation.read_position == 4


def test_deleting_hides_stops_and_records_and_keeps_the_evidence(
    conversation: Conversation, alice: Member, ask: Ask
) -> None:
    accepted = ask("Hello", "k1")
    keeping.delete(member=alice, conversation_id=conversation.id)
    assert seen(alice) == []
    assert list(Input.objects.visible_to(alice)) == []
    assert RunClaim.objects.get(run_id=accepted.run_id).stop_requested_at is not None
    assert len(replay.after(conversation.id, 0)) == 1
    rows = AuditEvent.objects.filter(action="conversation_deleted")
    assert [(row.actor, row.subject_id) for row in rows] == [
        (alice.principal, str(conversation.id))
    ]


def test_a_deletion_can_be_taken_back_by_the_owner_only(
    conversation: Conversation, alice: Member, charlie: Member
) -> None:
    with pytest.raises(NotFound):  # it is not deleted yet
        keeping.restore(member=alice, conversation_id=conversation.id)
    keeping.delete(member=alice, conversation_id=conversation.id)
    with pytest.raises(NotFound):
        keeping.restore(member=charlie, conversation_id=conversation.id)
    keeping.restore(member=alice, conversation_id=conversation.id)
    assert seen(alice) == [conversation.id]


def test_a_superuser_sees_only_her_own(conversation: Conversation, ada: Member) -> None:
    Member.objects.filter(pk=ada.pk).update(is_superuser=True)
    ada.refresh_from_db()
    own = inputs.open_conversation(member=ada)
    assert seen(ada) == [own.id]

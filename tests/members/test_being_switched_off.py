"""A switched-off account reaches nothing, by whatever it is asked."""

import secrets

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from agents.conversations import inputs
from agents.conversations.models import Conversation, Input
from agents.definitions import versions
from agents.definitions.models import Agent
from agents.members import credentials
from agents.members.models import Member
from audit.refusals import NotFound
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db
CONTENT = {"name": "Helper", "persona": "You help."}


@pytest.fixture
def gone(alice: Member) -> Member:
    """Alice, who has a conversation and an agent and whose account was switched off."""
    inputs.open_conversation(member=alice)
    versions.create(actor=alice, content=CONTENT)
    Member.objects.filter(pk=alice.pk).update(is_active=False)
    return Member.objects.get(pk=alice.pk)


def test_no_queryset_answers(gone: Member) -> None:
    for rows in (
        Conversation.objects.visible_to(gone),
        Conversation.objects.editable_by(gone),
        Conversation.objects.deleted_by(gone),
        Input.objects.visible_to(gone),
        Agent.objects.visible_to(gone),
        Agent.objects.usable_by(gone),
        Agent.objects.duplicable_by(gone),
        Agent.objects.readable_by(gone),
        Agent.objects.editable_by(gone),
        Agent.objects.owned_by(gone),
    ):
        assert list(rows) == []


def test_no_operation_runs(gone: Member) -> None:
    conversation_id = Conversation.objects.get(owner=gone).id
    with pytest.raises(NotFound):
        inputs.accept(
            member=gone,
            conversation_id=conversation_id,
            message=inputs.Message("Hello"),
            key=secrets.token_hex(8),
        )
    with pytest.raises(NotFound):
        inputs.stop(member=gone, conversation_id=conversation_id)


def test_sign_in_is_refused_and_an_open_session_ends(alice: Member) -> None:
    browser = Client()
    assert browser.login(username=alice.username, password=PASSWORD)
    key = browser.session.session_key
    assert credentials.from_session_key(key) is not None
    Member.objects.filter(pk=alice.pk).update(is_active=False)
    assert credentials.from_session_key(key) is None
    assert not Client().login(username=alice.username, password=PASSWORD)


def test_a_changed_password_ends_open_sessions(alice: Member) -> None:
    browser = Client()
    browser.login(username=alice.username, password=PASSWORD)
    key = browser.session.session_key
    alice.set_password("another good password")
    alice.save(update_fields=["password"])
    assert credentials.from_session_key(key) is None


def test_permissions_of_a_role_end_too(ada: Member) -> None:
    assert ada.has_perm("members.view_member")
    assert Permission.objects.filter(codename="view_member").exists()
    Member.objects.filter(pk=ada.pk).update(is_active=False)
    assert not Member.objects.get(pk=ada.pk).has_perm("members.view_member")

"""Accepting a message and beginning the turn of an earlier one do not stop each other."""

import secrets
import threading

import pytest
from django.db import connection, transaction

from agents.conversations import inputs
from agents.conversations.inputs import Accepted, Message
from agents.members.models import Member
from tests.patience import until
from tests.turns.admitting import asked, prepare, took

pytestmark = pytest.mark.usefixtures("nobody_works")


def waiting_for_a_lock() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return int(cursor.fetchone()[0])


def test_a_second_message_waits_for_the_turn_that_begins_and_neither_fails(
    committed_db: None, alice: Member
) -> None:
    prepare()
    first = asked(alice)
    conversation_id = inputs.Input.objects.get(id=first.input_id).conversation_id
    second: list[Accepted] = []

    def ask_again() -> None:
        second.append(
            inputs.accept(
                member=alice,
                conversation_id=conversation_id,
                message=Message("And another thing"),
                key=secrets.token_hex(8),
            )
        )
        connection.close()

    thread = threading.Thread(target=ask_again)
    with transaction.atomic():
        took(first)  # holds the journal; its references are checked at commit
        thread.start()
        until(waiting_for_a_lock, "the second waits for the first")
    thread.join()
    assert [accepted.position for accepted in second] == [3]
    inputs.stop(member=alice, conversation_id=conversation_id)

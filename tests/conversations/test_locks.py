"""Acceptance and a turn that starts never wait for each other."""

from concurrent.futures import ThreadPoolExecutor

from django.db import connection, transaction

from agents.conversations import inputs
from agents.members.models import Member


def test_a_conversation_being_written_to_can_still_be_referred_to(
    committed_db: None, alice: Member
) -> None:
    # A turn that starts refers to its conversation and holds the stream that acceptance waits
    # for: a full row lock here would let the two wait for each other.
    conversation = inputs.open_conversation(member=alice)

    def refer() -> bool:
        try:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT 1 FROM conversations_conversation WHERE id = %s FOR KEY SHARE NOWAIT",
                    [conversation.id],
                )
                return cursor.fetchone() == (1,)
        finally:
            connection.close()

    with transaction.atomic():
        assert inputs.LOCKED.first(member=alice.pk, id=conversation.id) == conversation
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(refer).result()

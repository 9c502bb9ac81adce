"""Tokens made at the same moment are counted like tokens made one after another."""

import threading

from django.db import connection

from agents.members import tokens
from agents.members.models import AccessToken, Member, TokenScope
from audit.refusals import Refusal


def test_the_limit_holds_for_parallel_requests(committed_db: None, alice: Member) -> None:
    room = 2
    for number in range(tokens.MAX_ACTIVE_TOKENS - room):
        tokens.create(actor=alice, name=str(number), scope=TokenScope.READ, days=1)
    start, refused = threading.Barrier(8), []

    def make() -> None:
        start.wait()
        try:
            tokens.create(actor=alice, name="laptop", scope=TokenScope.READ, days=1)
        except Refusal as refusal:
            refused.append(refusal.reason)
        connection.close()

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    usable = AccessToken.objects.visible_to(alice).usable().count()
    assert (usable, len(refused)) == (tokens.MAX_ACTIVE_TOKENS, 8 - room)

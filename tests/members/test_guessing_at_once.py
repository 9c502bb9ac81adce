"""Many guesses at the same moment get no more tries than one after another."""

import secrets
import threading

from django.db import connection

from agents.members import throttling


def test_the_limit_holds_for_parallel_tries(committed_db: None) -> None:
    key = throttling.key(f"nobody {secrets.token_hex(8)}", "192.0.2.7")
    start, admitted = threading.Barrier(8), []

    def guess() -> None:
        start.wait()
        for _ in range(4):
            admitted.append(throttling.admit(key))
        connection.close()

    threads = [threading.Thread(target=guess) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert admitted.count(True) == throttling.MAX_FAILURES
    throttling.clear(key)

"""Many workers at once: each run goes to one of them, and none waits for another."""

import threading
import time
from collections import Counter
from uuid import UUID, uuid4

from django.db import connection

from tools.effects import claims


def queued(queue: str, count: int, *, lane: UUID | None = None) -> list[UUID]:
    """Runs in the order they were accepted, each in a lane of its own unless one is named."""
    runs = [uuid4() for _ in range(count)]
    for ordinal, run_id in enumerate(runs, start=1):
        claims.enqueue(run_id, lane=lane or uuid4(), ordinal=ordinal, queue=queue)
    return runs


def test_many_workers_at_once_share_the_runs_without_overlap(committed_db: None) -> None:
    queue = f"many-{uuid4().hex[:8]}"
    lane = uuid4()
    alone, lined_up = queued(queue, 60), queued(queue, 20, lane=lane)
    settled: list[UUID] = []
    guard = threading.Lock()
    start = threading.Barrier(6)
    deadline = time.monotonic() + 30

    def work(owner: str) -> None:
        start.wait()
        while len(settled) < 80 and time.monotonic() < deadline:
            for claim in claims.claim(owner, limit=3, lease_s=30, queue=queue):
                claims.settle(claim.run_id, claim.fence)
                with guard:
                    settled.append(claim.run_id)
        connection.close()

    workers = [threading.Thread(target=work, args=(f"worker {n}",)) for n in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert Counter(settled) == Counter(alone + lined_up)
    assert order_of_settling(lane) == lined_up


def order_of_settling(lane: UUID) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT run_id FROM effects_runclaim WHERE lane = %s ORDER BY settled_at", [lane]
        )
        return [row[0] for row in cursor.fetchall()]


def test_a_locked_run_is_passed_over_instead_of_waited_for(committed_db: None) -> None:
    queue = f"skip-{uuid4().hex[:8]}"
    held, free = queued(queue, 2)
    locked, done = threading.Event(), threading.Event()

    def hold() -> None:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT 1 FROM effects_runclaim WHERE run_id = %s FOR UPDATE", [held])
            locked.set()
            done.wait(10)
            cursor.execute("ROLLBACK")
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    locked.wait(10)
    found = claims.claim("quick", limit=1, lease_s=30, queue=queue)
    done.set()
    holder.join()
    assert [claim.run_id for claim in found] == [free]

"""Who gets which run: order, lanes, and many workers at once."""

from uuid import UUID, uuid4

import pytest
from django.db import connection

from tools.effects import claims
from tools.effects.claims import Claim

pytestmark = pytest.mark.django_db


def queued(queue: str, count: int, *, lane: UUID | None = None, first: int = 1) -> list[UUID]:
    """Runs in the order they were accepted, each in a lane of its own unless one is named."""
    runs = [uuid4() for _ in range(count)]
    for ordinal, run_id in enumerate(runs, start=first):
        claims.enqueue(run_id, lane=lane or uuid4(), ordinal=ordinal, queue=queue)
    return runs


def taken(owner: str, queue: str, *, limit: int = 100, lease_s: float = 30) -> list[Claim]:
    return claims.claim(owner, limit=limit, lease_s=lease_s, queue=queue)


def ids(found: list[Claim]) -> list[UUID]:
    return [one.run_id for one in found]


def test_the_oldest_run_is_taken_first() -> None:
    runs = queued("order", 3)
    assert [ids(taken("one", "order", limit=1)) for _ in runs] == [[run] for run in runs]
    assert taken("one", "order") == []


def test_queues_do_not_mix() -> None:
    queued("left", 2)
    assert taken("one", "right") == []


def test_the_first_claim_says_so_and_carries_fence_and_attempt() -> None:
    (run,) = queued("first", 1)
    (claim,) = taken("one", "first", lease_s=-1)
    assert (claim, claim.is_first, claim.stop_requested) == (Claim(run, 1, 1), True, False)
    (again,) = taken("two", "first")
    assert (again, again.is_first) == (Claim(run, 2, 2), False)


def test_a_lane_gives_one_run_after_another_by_ordinal() -> None:
    lane = uuid4()
    late, early = queued("lane", 1, lane=lane, first=9), queued("lane", 1, lane=lane, first=3)
    for expected in (early, late):
        (claim,) = taken("one", "lane")
        assert ids([claim]) == expected
        assert taken("two", "lane") == []
        claims.settle(claim.run_id, claim.fence)


def test_an_expired_run_blocks_its_lane_until_it_is_taken_up_and_settled() -> None:
    first, second = queued("blocked", 2, lane=uuid4())
    taken("dead", "blocked", lease_s=-1)
    (claim,) = taken("alive", "blocked")
    assert (claim.run_id, claim.fence) == (first, 2)
    assert taken("alive", "blocked") == []
    claims.settle(first, 2)
    assert ids(taken("alive", "blocked")) == [second]


def test_other_lanes_are_not_held_up_by_a_busy_one() -> None:
    busy = queued("busy", 2, lane=uuid4())
    free = queued("busy", 2)
    assert ids(taken("one", "busy")) == [busy[0], *free]


def test_a_lane_cannot_hold_an_ordinal_twice() -> None:
    lane = uuid4()
    queued("twice", 1, lane=lane)
    with pytest.raises(Exception, match="one_run_per_lane_ordinal"):
        queued("twice", 1, lane=lane)


def test_stopping_a_lane_marks_its_open_runs_once() -> None:
    lane = uuid4()
    done, running, waiting = queued("stop", 3, lane=lane)
    (claim,) = taken("one", "stop")
    claims.settle(done, claim.fence)
    taken("one", "stop")
    assert set(claims.request_stop(lane)) == {running, waiting}
    first = stamps(lane)
    assert set(claims.request_stop(lane)) == {running, waiting}
    assert (stamps(lane), first[done]) == (first, None)
    assert claims.request_stop(uuid4()) == []


def test_a_run_stopped_while_it_waited_is_claimed_with_the_stop_told() -> None:
    lane = uuid4()
    queued("told", 1, lane=lane)
    claims.request_stop(lane)
    (claim,) = taken("one", "told")
    assert claim.stop_requested
    assert claims.renew([claim], lease_s=30) == [claims.Renewal(claim.run_id, True)]


def stamps(lane: UUID) -> dict[UUID, object]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT run_id, stop_requested_at FROM effects_runclaim WHERE lane = %s", [lane]
        )
        return dict(cursor.fetchall())

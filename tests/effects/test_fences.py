"""Ownership of a run: who may write, and how a worker that lost it is told."""

from uuid import UUID, uuid4

import pytest
from django.db import transaction

from agents.journal import append as journal
from agents.journal import replay
from agents.journal.append import Draft
from agents.journal.frames import Kind
from tools.effects import claims, reservations
from tools.effects.claims import Claim, LeaseLost
from tools.effects.models import RunClaim, RunState

pytestmark = pytest.mark.django_db

OLD, NEW = 0, 1


@pytest.fixture
def queue() -> str:
    return f"fences-{uuid4().hex[:8]}"


@pytest.fixture
def run(queue: str) -> UUID:
    run_id = uuid4()
    claims.enqueue(run_id, lane=uuid4(), ordinal=1, queue=queue)
    return run_id


def take(queue: str, *, lease_s: float = 30) -> Claim:
    (claim,) = claims.claim("somebody", limit=1, lease_s=lease_s, queue=queue)
    return claim


@pytest.fixture
def fences(run: UUID, queue: str) -> tuple[Claim, Claim]:
    """The claim of a worker that was paused past its lease, and of the one that took over."""
    return take(queue, lease_s=-1), take(queue)


def row(run_id: UUID) -> RunClaim:
    return RunClaim.objects.get(run_id=run_id)


def test_taking_over_raises_the_fence(fences: tuple[Claim, Claim]) -> None:
    assert [claim.fence for claim in fences] == [1, 2]


@pytest.mark.req("INP-019")
def test_an_old_fence_proves_nothing(fences: tuple[Claim, Claim]) -> None:
    with pytest.raises(LeaseLost):
        claims.prove(fences[OLD].run_id, fences[OLD].fence)
    claims.prove(fences[NEW].run_id, fences[NEW].fence)


def test_a_fence_that_was_never_given_proves_nothing(run: UUID, queue: str) -> None:
    held = take(queue)
    for fence in (0, held.fence + 1):
        with pytest.raises(LeaseLost):
            claims.prove(run, fence)
    with pytest.raises(LeaseLost):
        claims.prove(uuid4(), 1)


def test_an_old_fence_cannot_settle(fences: tuple[Claim, Claim]) -> None:
    with pytest.raises(LeaseLost):
        claims.settle(fences[OLD].run_id, fences[OLD].fence)
    assert row(fences[OLD].run_id).state == RunState.RUNNING


def test_an_old_fence_renews_nothing_and_is_missing_from_the_answer(
    fences: tuple[Claim, Claim],
) -> None:
    before = row(fences[OLD].run_id).lease_until
    assert claims.renew([fences[OLD]], lease_s=3_600) == []
    assert row(fences[OLD].run_id).lease_until == before
    assert [renewal.run_id for renewal in claims.renew(fences, lease_s=30)] == [fences[NEW].run_id]


def test_an_old_fence_gives_nothing_back(fences: tuple[Claim, Claim]) -> None:
    claims.release(fences[OLD].run_id, fences[OLD].fence)
    assert (row(fences[OLD].run_id).state, row(fences[OLD].run_id).attempts) == ("running", 2)


def test_an_old_fence_can_record_no_intent(fences: tuple[Claim, Claim]) -> None:
    with pytest.raises(LeaseLost):
        reservations.reserve(fences[OLD], "call")
    assert reservations.reserved(fences[OLD].run_id) == frozenset()


def test_an_old_fence_can_append_nothing(fences: tuple[Claim, Claim]) -> None:
    stream = uuid4()
    journal.open_stream(stream)
    with pytest.raises(LeaseLost), transaction.atomic():
        journal.append(stream, [Draft(Kind.NOTICE, {})], claim=fences[OLD])
    assert (replay.head(stream), replay.after(stream, 0)) == (0, [])


def test_the_owner_may_repeat_its_own_writes(run: UUID, queue: str) -> None:
    claim = take(queue)
    for _ in range(2):
        claims.prove(run, claim.fence)
        assert len(claims.renew([claim], lease_s=30)) == 1
    assert [reservations.reserve(claim, "call") for _ in range(2)] == [True, False]


def test_an_owner_past_its_lease_whom_nobody_replaced_still_owns_the_run(
    run: UUID, queue: str
) -> None:
    claim = take(queue, lease_s=-1)
    claims.prove(run, claim.fence)
    assert len(claims.renew([claim], lease_s=30)) == 1
    assert claims.claim("thief", limit=1, lease_s=30, queue=queue) == []


def test_a_settled_run_is_closed_to_its_own_worker_too(run: UUID, queue: str) -> None:
    claim = take(queue)
    claims.settle(run, claim.fence)
    for write in (claims.prove, claims.settle):
        with pytest.raises(LeaseLost):
            write(run, claim.fence)
    claims.release(run, claim.fence)
    assert claims.renew([claim], lease_s=30) == []
    assert row(run).state == RunState.SETTLED


def test_a_released_run_is_taken_at_once_and_its_attempt_is_not_counted(
    run: UUID, queue: str
) -> None:
    first = take(queue)
    claims.release(run, first.fence)
    second = take(queue)
    assert (second.fence, second.attempts) == (2, 1)


def test_an_intent_outlives_the_worker_that_recorded_it(run: UUID, queue: str) -> None:
    assert reservations.reserve(take(queue, lease_s=-1), "write") is True
    assert reservations.reserve(take(queue), "write") is False
    assert reservations.reserved(run) == {"write"}


def test_a_postponed_run_counts_the_attempt_and_waits(run: UUID, queue: str) -> None:
    claims.postpone(run, delay_s=60)
    assert claims.claim("one", limit=1, lease_s=30, queue=queue) == []
    claims.postpone(run, delay_s=60)  # held back already: not counted again
    assert (row(run).attempts, row(run).fence) == (1, 1)


def test_postponing_does_not_touch_a_run_that_somebody_holds(run: UUID, queue: str) -> None:
    claim = take(queue)
    claims.postpone(run, delay_s=60)
    claims.prove(run, claim.fence)

"""Budgets are kept to the last token, whoever asks at once and whoever dies in between."""

import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection as database
from django.db import connections, transaction
from django.test.utils import CaptureQueriesContext

from agents.gateway import budgets, calls, deployments, jobs, metering
from agents.gateway.budgets import Amount
from agents.gateway.calls import CallSubject, ModelCallEnded
from agents.gateway.events import Completed, ModelRequest, Usage
from agents.gateway.models import Budget, BudgetHold, Deployment
from agents.members.models import Member
from audit.models import AuditEvent
from audit.reasons import Reason
from audit.refusals import Invalid, RateLimited
from kaizen.celery import BEAT
from tools.effects import claims

ONE = Amount(1, 1)
HELLO = ModelRequest(messages=[{"role": "user", "content": "Hello"}])


def budget(of: Member, amount: int, **values: Any) -> Budget:
    values = {"member": of, "unit": "tokens", "period": "day", **values}
    made = Budget(amount=amount, **values)
    budgets.save(actor="system:tests", budget=made)
    return made


def running() -> uuid.UUID:
    """A run with fence 1 whose worker is not heard of any more."""
    run_id, queue = uuid.uuid4(), f"tests-{uuid.uuid4().hex[:12]}"
    claims.enqueue(run_id, lane=uuid.uuid4(), ordinal=1, queue=queue)
    claims.claim("tests", limit=1, lease_s=-1, queue=queue)
    return run_id


def reserve(member: Member, most: Amount = ONE, **values: Any) -> budgets.Exhausted | None:
    values = {"holder_id": running(), "fence": 1, "certain": Amount(0, 0), **values}
    return budgets.reserve(member.pk, most=most, **values)


def counts(made: Budget) -> tuple[int, int]:
    """Used and held."""
    return Budget.objects.values_list("used", "held").get(pk=made.pk)


@pytest.mark.django_db
def test_what_a_call_did_not_use_is_given_back(alice: Member) -> None:
    made, holder = budget(alice, 100), running()
    assert reserve(alice, Amount(60, 0), holder_id=holder) is None
    assert counts(made) == (0, 60)
    assert reserve(alice, Amount(41, 0)) is not None
    budgets.settle(alice.pk, holder_id=holder, fence=1, used=Amount(25, 0))
    assert counts(made) == (25, 0)
    assert reserve(alice, Amount(75, 0)) is None
    assert BudgetHold.objects.count() == 1


@pytest.mark.django_db
def test_all_budgets_must_have_room_or_none_is_touched(alice: Member, bob: Member) -> None:
    group = Group.objects.create(name="readers")
    alice.groups.add(group)
    bob.groups.add(group)
    own = budget(alice, 100)
    shared = budget(alice, 50, member=None, group=group, period="month")
    money = budget(alice, 10, unit="money")
    assert reserve(bob, Amount(40, 99)) is None
    full = reserve(alice, Amount(11, 1))
    assert full is not None
    assert full.period == "month"
    assert [counts(one) for one in (own, shared, money)] == [(0, 0), (0, 40), (0, 0)]
    assert reserve(alice, Amount(10, 11)) is not None
    assert reserve(alice, Amount(10, 10)) is None
    assert [counts(one) for one in (own, shared, money)] == [(0, 10), (0, 50), (0, 10)]


@pytest.mark.django_db
def test_a_new_period_starts_from_nothing(alice: Member) -> None:
    made, holder = budget(alice, 10), running()
    assert reserve(alice, Amount(10, 0), holder_id=holder) is None
    with database.cursor() as cursor:
        for table in ("gateway_budget", "gateway_budgethold"):
            cursor.execute(f"UPDATE {table} SET period_start = period_start - 1")
    assert reserve(alice, Amount(10, 0)) is None
    assert counts(made) == (0, 10)
    # A call that began yesterday gives nothing of today back, and counts today.
    budgets.settle(alice.pk, holder_id=holder, fence=1, used=Amount(4, 0))
    assert counts(made) == (4, 10)
    assert budgets.exhausted(alice.pk) is None


@pytest.mark.django_db
def test_who_has_no_budget_may_use_what_they_like(alice: Member, bob: Member) -> None:
    budget(alice, 0)
    assert reserve(bob, Amount(10**9, 10**9)) is None
    assert not BudgetHold.objects.exists()
    disabled = Budget.objects.get()
    disabled.enabled = False
    budgets.save(actor="system:tests", budget=disabled)
    assert reserve(alice, Amount(10**9, 10**9)) is None


@pytest.mark.django_db
def test_the_door_says_when_to_come_back(alice: Member, bob: Member) -> None:
    made, holder = budget(alice, 5), running()
    budgets.check_at_the_door(alice.pk)
    assert reserve(alice, Amount(5, 0), holder_id=holder) is None
    budgets.check_at_the_door(alice.pk)  # held is not used up
    budgets.settle(alice.pk, holder_id=holder, fence=1, used=Amount(7, 0))
    with pytest.raises(RateLimited) as refused:
        budgets.check_at_the_door(alice.pk)
    assert refused.value.reason is Reason.BUDGET_EXHAUSTED
    assert 1 <= refused.value.retry_after_s <= 86_400
    assert "renews in" in refused.value.message
    budgets.check_at_the_door(bob.pk)
    made.amount = 8
    budgets.save(actor="system:tests", budget=made)
    budgets.check_at_the_door(alice.pk)


@pytest.mark.django_db
def test_without_budgets_the_door_asks_once_in_a_while(alice: Member) -> None:
    budgets.check_at_the_door(alice.pk)
    with CaptureQueriesContext(database) as queries:
        budgets.check_at_the_door(alice.pk)
    assert len(queries) == 0


@pytest.mark.django_db
@pytest.mark.parametrize(
    "wrong",
    [{"group": None, "member": None}, {"unit": "words"}, {"period": "year"}, {"amount": -1}],
    ids=str,
)
def test_it_refuses_a_budget_of_no_sense(alice: Member, wrong: dict) -> None:
    with pytest.raises(Invalid), transaction.atomic():
        budget(alice, **{"amount": 5, **wrong})
    assert not Budget.objects.exists()


@pytest.mark.django_db
def test_a_second_budget_of_a_kind_is_refused_and_changes_are_audited(alice: Member) -> None:
    made = budget(alice, 5)
    with pytest.raises(Invalid), transaction.atomic():
        budget(alice, 6)
    made.amount = 7
    budgets.save(actor="member:1", budget=made)
    rows = AuditEvent.objects.filter(subject_kind="budget").order_by("sequence")
    assert [(row.action, row.details["amount"]) for row in rows] == [
        ("budget_created", 5),
        ("budget_changed", 7),
    ]


# -- around a call


@pytest.fixture
def deployment(db: None) -> Deployment:
    made = Deployment(
        name="d",
        base_url="http://127.0.0.1:1/v1",
        model="m",
        output_price=Decimal(2),
        max_output_tokens=100,
        turn_tokens=1_000,
    )
    deployments.save(actor="system:tests", deployment=made, secret_entered=False)
    return made


def subject(member: Member) -> CallSubject:
    return CallSubject(member_id=member.pk, run_id=running(), fence=1)


def answer(usage: Usage | None, first_token_ms: int | None = 5) -> Completed:
    return Completed("Hi", "", (), "complete", usage, None, 1, first_token_ms, 9)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("ended", "tokens", "money"),
    [
        (answer(Usage(7, 9)), 16, 18),
        (answer(None, None), 0, 0),
        (answer(None), 10, 0),  # nobody knows what it used, but its input was sent
        (None, 10, 0),
    ],
)
def test_the_outcome_of_a_call_settles_what_it_held(
    alice: Member, deployment: Deployment, ended: Any, tokens: int, money: int
) -> None:
    made, dear = budget(alice, 1_000), budget(alice, 1_000, unit="money")
    connection = deployments.connection(deployments.chat_deployment(deployment.id))
    assert connection.is_budgeted
    most, certain = metering.expected(connection, HELLO)
    assert (most, certain.tokens) == (Amount(certain.tokens + 100, 200), certain.tokens)
    who = subject(alice)
    reserve(alice, most, holder_id=who.run_id, certain=Amount(10, 0))
    assert counts(made) == (0, most.tokens)
    calls.record(connection, who, [ModelCallEnded(1, ended)])
    assert (counts(made), counts(dear)) == ((tokens, 0), (money, 0))


@pytest.mark.django_db
def test_a_call_without_budgets_costs_no_statement_more(
    alice: Member, deployment: Deployment, django_assert_num_queries: Callable[..., Any]
) -> None:
    with django_assert_num_queries(1):
        chosen = deployments.chat_deployment(deployment.id)
    connection = deployments.connection(chosen)
    assert not connection.is_budgeted
    who = subject(alice)
    with django_assert_num_queries(1):
        calls.record(connection, who, [ModelCallEnded(1, answer(Usage(7, 9)))])


@pytest.mark.req("GRD-003")
async def test_a_turn_ends_at_the_deployments_own_bound() -> None:
    plain = deployments.connection(
        Deployment(name="d", base_url="http://127.0.0.1:1/v1", model="m", turn_tokens=1_000)
    )
    nobody = CallSubject()
    under = await metering.before_call(plain, nobody, HELLO, spent_tokens=999)
    over = await metering.before_call(plain, nobody, HELLO, spent_tokens=1_000)
    unbounded = replace(plain, turn_tokens=None)
    free = await metering.before_call(unbounded, nobody, HELLO, spent_tokens=10**9)
    assert (under, over, free) == (None, Reason.TOKEN_LIMIT, None)


# -- many at once, and workers that die


@pytest.fixture
def kept_db(committed_db: None) -> Iterator[None]:
    """The committed database; budgets would change what other tests count, so none stays."""
    yield
    Budget.objects.all().delete()


def claimed_run() -> claims.Claim:
    """A run that a worker holds."""
    run_id = uuid.uuid4()
    claims.enqueue(run_id, lane=uuid.uuid4(), ordinal=1, queue=f"budget-{run_id.hex[:8]}")
    (claim,) = claims.claim("w", limit=1, lease_s=60, queue=f"budget-{run_id.hex[:8]}")
    return claim


def storm(member: Member, threads: int, attempts: int) -> int:
    """How many of all attempts are admitted."""
    admitted, start = [], threading.Barrier(threads)

    def work() -> None:
        try:
            start.wait()
            for _ in range(attempts):
                if reserve(member, Amount(1, 1)) is None:
                    admitted.append(1)
        finally:
            connections.close_all()

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return len(admitted)


def test_exactly_the_limit_is_admitted_of_many_at_once(
    kept_db: None, make_member: Callable[..., Member]
) -> None:
    alice = make_member("alice")
    group = Group.objects.create(name=f"g-{uuid.uuid4().hex}")
    alice.groups.add(group)
    # Every reservation takes three rows; they would wait for each other in a circle.
    made = [
        budget(alice, 50),
        budget(alice, 60, unit="money"),
        budget(alice, 50, member=None, group=group),
    ]
    assert storm(alice, threads=16, attempts=20) == 50
    assert [counts(one) for one in made] == [(0, 50)] * 3
    assert BudgetHold.objects.filter(budget__in=made).count() == 150
    # None of these holders was ever claimed by a worker, so all of it comes back.
    assert budgets.release_orphans() >= 150
    assert [counts(one) for one in made] == [(0, 0)] * 3
    assert storm(alice, threads=4, attempts=20) == 50


def test_what_living_runs_hold_stays_and_what_dead_ones_held_comes_back(
    kept_db: None, make_member: Callable[..., Member]
) -> None:
    alice = make_member("alice")
    made = budget(alice, 50)
    living, lost, settled, superseded = (claimed_run() for _ in range(4))
    for claim in (living, lost, settled, superseded):
        assert reserve(alice, Amount(10, 0), holder_id=claim.run_id, fence=claim.fence) is None
    with database.cursor() as cursor:
        cursor.execute(
            "UPDATE effects_runclaim SET lease_until = clock_timestamp() - interval '1 s'"
            " WHERE run_id = %s",
            [lost.run_id],
        )
        cursor.execute(
            "UPDATE effects_runclaim SET fence = fence + 1 WHERE run_id = %s", [superseded.run_id]
        )
    claims.settle(settled.run_id, settled.fence)
    assert counts(made) == (0, 40)
    assert budgets.release_orphans() >= 3
    assert counts(made) == (0, 10)
    # A worker that was only slow still settles what it used, once.
    budgets.settle(alice.pk, holder_id=lost.run_id, fence=lost.fence, used=Amount(3, 0))
    assert counts(made) == (3, 10)


DIES = """
import django, os, sys, uuid
django.setup()
from django.conf import settings
from django.db import connections
connections["default"].settings_dict["NAME"] = sys.argv[1]
from agents.gateway import budgets
from agents.gateway.budgets import Amount
from tools.effects import claims
most = Amount(1, 1)
for _ in range(10):
    run = uuid.uuid4()
    claims.enqueue(run, lane=run, ordinal=1, queue=run.hex[:12])
    claims.claim("dies", limit=1, lease_s=-1, queue=run.hex[:12])
    budgets.reserve(int(sys.argv[2]), holder_id=run, fence=1, most=most, certain=most)
print("held", flush=True)
sys.stdin.read()
"""


def test_a_killed_workers_reservations_come_back(
    kept_db: None, make_member: Callable[..., Member]
) -> None:
    alice = make_member("alice")
    made = budget(alice, 50)
    name = connections["default"].settings_dict["NAME"]
    worker = subprocess.Popen(
        [sys.executable, "-c", DIES, name, str(alice.pk)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "kaizen.settings"},
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == b"held\n"
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert counts(made) == (0, 10)
    assert storm(alice, threads=8, attempts=10) == 40
    budgets.release_orphans()
    assert counts(made) == (0, 0)
    assert storm(alice, threads=8, attempts=10) == 50


def test_the_clock_gives_back_within_a_minute(settings: Any) -> None:
    tick = BEAT["release-budgets"]
    assert settings.TURN_WORKER["lease_s"] + 2 * tick["schedule"] <= 60
    assert tick["task"] == jobs.release_budgets.name

"""One row per model call, whatever became of it."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from prometheus_client import REGISTRY

from agents.gateway import calls, deployments, failures
from agents.gateway.calls import CallSubject, ModelCallEnded
from agents.gateway.connection import Connection, Prices
from agents.gateway.events import FAILURES, AttemptFailed, Completed, ProviderFailure, Usage
from agents.gateway.models import Deployment, ModelCall

pytestmark = pytest.mark.django_db


@dataclass
class Ledger:
    """Writes calls for one subject."""

    connection: Connection
    subject: CallSubject

    def record(self, *ended: Any) -> None:
        calls.record(self.connection, self.subject, [ModelCallEnded(3, one) for one in ended])


@pytest.fixture
def ledger(alice: Any) -> Ledger:
    deployment = Deployment(
        name="d",
        base_url="http://127.0.0.1:1/v1",
        model="m",
        input_price=Decimal("2.5"),
        cached_price=Decimal("0.25"),
        output_price=Decimal(10),
    )
    deployments.save(actor="system:tests", deployment=deployment, secret_entered=False)
    subject = CallSubject(
        member_id=alice.pk,
        agent_id=uuid.uuid4(),
        conversation_id=uuid.uuid4(),
        run_id=uuid.uuid4(),
        fence=1,
    )
    return Ledger(deployments.connection(deployment), subject)


def completed(end: str, failure: ProviderFailure | None = None) -> Completed:
    usage = Usage(20, 9, reasoning_tokens=4, cached_tokens=6)
    return Completed("secret text", "", (), end, usage, failure, 2, 40, 900)


@pytest.mark.parametrize("end", ["complete", "tool_calls", "truncated"])
@pytest.mark.req("AUD-005", "AUD-006")
def test_a_call_that_ended_is_one_row_of_counts(
    end: str, ledger: Ledger, django_assert_num_queries: Callable[..., Any]
) -> None:
    before = REGISTRY.get_sample_value("kaizen_model_call_total", {"outcome": end}) or 0
    with django_assert_num_queries(1):
        ledger.record(completed(end))
    row = ModelCall.objects.of_run(ledger.subject.run_id).values().get()
    del row["id"], row["at"]
    assert row == {
        "run_id": ledger.subject.run_id,
        "conversation_id": ledger.subject.conversation_id,
        "purpose": "chat",
        "step": 3,
        "attempt": 2,
        "member_id": ledger.subject.member_id,
        "agent_id": ledger.subject.agent_id,
        "deployment_id": ledger.connection.deployment_id,
        "model": "m",
        "outcome": end,
        "error_class": "",
        "failure": "",
        "status": None,
        "prompt_tokens": 20,
        "completion_tokens": 9,
        "reasoning_tokens": 4,
        "cached_tokens": 6,
        "input_price": Decimal("2.5"),
        "cached_price": Decimal("0.25"),
        "output_price": Decimal(10),
        "cost": 127,  # 14 x 2.5 + 6 x 0.25 + 9 x 10 millionths
        "first_token_ms": 40,
        "duration_ms": 900,
    }
    assert REGISTRY.get_sample_value("kaizen_model_call_total", {"outcome": end}) == before + 1


@pytest.mark.parametrize("code", FAILURES)
@pytest.mark.req("AUD-005", "GW-005")
def test_every_failure_has_its_class(code: Any, ledger: Ledger) -> None:
    failure = ProviderFailure(code, "words for a member", status=500)
    ledger.record(completed("failed", failure))
    row = ModelCall.objects.get()
    assert (row.outcome, row.error_class, row.failure, row.status) == (
        "failed",
        str(FAILURES[code]),
        str(code),
        500,
    )


def test_calls_recorded_together_cost_one_statement(
    ledger: Ledger, django_assert_num_queries: Callable[..., Any]
) -> None:
    failed = AttemptFailed(1, failures.unreachable(), None, 0.5)
    with django_assert_num_queries(1):
        ledger.record(failed, failed, completed("complete"))
    with django_assert_num_queries(0):
        ledger.record()
    assert ModelCall.objects.of_run(ledger.subject.run_id).count() == 3


def test_later_prices_do_not_change_what_a_call_cost(ledger: Ledger) -> None:
    ledger.record(completed("complete"))
    deployment = Deployment.objects.get()
    deployment.output_price = Decimal(99)
    deployments.save(actor="system:tests", deployment=deployment, secret_entered=False)
    assert ModelCall.objects.values_list("cost", "output_price").get() == (127, Decimal(10))


@pytest.mark.parametrize(
    ("prices", "usage", "cost"),
    [
        (Prices(), Usage(1_000_000, 1_000_000), 0),
        (Prices(Decimal(3), Decimal("0.3"), Decimal(15)), Usage(1_000_000, 1_000_000), 18_000_000),
        (Prices(Decimal("0.0001")), Usage(4_999, 0), 0),
        (Prices(Decimal("0.0001")), Usage(5_000, 0), 1),
        (Prices(Decimal(1), Decimal(0)), Usage(10, 0, cached_tokens=10), 0),
        (Prices(Decimal(1), Decimal(0)), Usage(10, 0, cached_tokens=99), 0),
    ],
)
def test_money_is_counted_in_whole_millionths(prices: Prices, usage: Usage, cost: int) -> None:
    assert prices.cost(usage) == cost


def test_a_repeated_attempt_is_a_call_of_its_own(ledger: Ledger) -> None:
    ledger.record(
        AttemptFailed(1, failures.unreachable(), None, 0.5, None, 12), completed("complete")
    )
    rows = ModelCall.objects.of_run(ledger.subject.run_id)
    assert [(row.attempt, row.outcome) for row in rows] == [(1, "failed"), (2, "complete")]


def test_a_cancelled_call_is_a_row_as_well(ledger: Ledger) -> None:
    ledger.record(None)
    assert ModelCall.objects.get().outcome == "cancelled"


def test_the_database_refuses_a_failure_without_a_class(ledger: Ledger) -> None:
    values = {"deployment_id": ledger.connection.deployment_id, "model": "m"}
    for wrong in (
        {"outcome": "failed"},
        {"outcome": "complete", "error_class": "timeout"},
        {"outcome": "odd"},
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            ModelCall(**values, **wrong).save()


@pytest.mark.parametrize("statement", ["DELETE FROM {}", "UPDATE {} SET model = 'x'"])
def test_nobody_changes_a_row(statement: str, ledger: Ledger) -> None:
    ledger.record(completed("complete"))
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format("gateway_modelcall"))


@pytest.mark.req("REPO-002")
def test_people_see_their_own_calls_only(ledger: Ledger, alice: Any, bob: Any) -> None:
    ledger.record(completed("complete"))
    assert ModelCall.objects.visible_to(alice).count() == 1
    assert ModelCall.objects.visible_to(bob).count() == 0

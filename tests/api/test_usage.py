"""What people used of models, by day: their own, and nobody else's."""

import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from agents.definitions import bundling
from agents.gateway import budgets
from agents.gateway.models import Budget, Deployment, ModelCall
from agents.members.models import Member
from tests.api.conftest import Caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def deployment() -> Deployment:
    return Deployment.objects.create(name="d", base_url="http://127.0.0.1:1/v1", model="m")


@pytest.fixture
def conversation(as_alice: Caller) -> str:
    """An empty conversation of alice's, with somebody to answer in it."""
    for bundle in bundling.shipped():
        bundling.reconcile(bundle)
    return as_alice.post("/api/conversations").json()["id"]


def call(deployment: Deployment, member: Member, days_ago: int = 0, **values: Any) -> None:
    values = {"outcome": "complete", "model": "m", "input_price": Decimal(1), **values}
    at = datetime.now(UTC) - timedelta(days=days_ago)
    ModelCall(member=member, deployment=deployment, at=at, **values).save()


def test_it_adds_up_ones_own_calls_by_day(
    as_alice: Caller, alice: Member, bob: Member, deployment: Deployment
) -> None:
    counts = {"prompt_tokens": 20, "completion_tokens": 9, "cost": 29}
    call(deployment, alice, **counts)
    call(deployment, alice, **counts, reasoning_tokens=4, cached_tokens=6)
    call(deployment, alice, outcome="cancelled")
    call(deployment, alice, days_ago=1, **counts)
    call(deployment, alice, days_ago=40, **counts)
    call(deployment, bob, **counts)
    days = as_alice.get("/api/usage").json()["items"]
    today = datetime.now(UTC).date()
    assert days == [
        {
            "day": today.isoformat(),
            "calls": 3,
            "failed": 0,
            "input_tokens": 40,
            "output_tokens": 18,
            "reasoning_tokens": 4,
            "cached_tokens": 6,
            "cost": 58,
        },
        {
            "day": (today - timedelta(days=1)).isoformat(),
            "calls": 1,
            "failed": 0,
            "input_tokens": 20,
            "output_tokens": 9,
            "reasoning_tokens": 0,
            "cached_tokens": 0,
            "cost": 29,
        },
    ]
    assert len(as_alice.get("/api/usage?days=1").json()["items"]) == 1
    assert len(as_alice.get("/api/usage?days=366").json()["items"]) == 3


def test_it_tells_what_budgets_leave(as_alice: Caller, as_charlie: Caller, alice: Member) -> None:
    budgets.save(
        actor="system:tests", budget=Budget(member=alice, unit="tokens", period="day", amount=50)
    )
    budgets.settle(
        alice.pk, holder_id=uuid.uuid4(), fence=None, used=budgets.Amount(tokens=7, money=0)
    )
    (left,) = as_alice.get("/api/usage").json()["budgets"]
    renews_in_s = left.pop("renews_in_s")
    assert left == {"unit": "tokens", "period": "day", "amount": 50, "used": 7, "is_shared": False}
    assert 0 < renews_in_s <= 86_400
    assert as_charlie.get("/api/usage").json() == {"items": [], "budgets": []}


@pytest.mark.parametrize("days", ["0", "367", "x", "1.5", ""])
def test_it_refuses_a_number_of_days_of_no_sense(as_alice: Caller, days: str) -> None:
    assert as_alice.get(f"/api/usage?days={days}").status_code == 400


def test_a_used_up_budget_turns_messages_away_at_the_door(
    as_alice: Caller, alice: Member, conversation: str, deployment: Deployment
) -> None:
    path = f"/api/conversations/{conversation}/inputs"
    body = {"kind": "message", "message": "hello", "deployment": str(deployment.pk)}
    earlier = as_alice.post(path, body, key="k1")
    assert earlier.status_code == 202
    budgets.save(actor="system:tests", budget=Budget(member=alice, amount=0))
    refused = as_alice.post(path, body, key="k2")
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    assert refused.json()["error"]["code"] == "budget_exhausted"
    assert "renews in" in refused.json()["error"]["message"]
    # What was accepted before is still answered as it was.
    assert as_alice.post(path, body, key="k1").json() == earlier.json()


@pytest.mark.parametrize("which", ["unknown", "disabled"])
def test_a_model_that_cannot_answer_is_refused_at_the_door(
    as_alice: Caller, conversation: str, deployment: Deployment, which: str
) -> None:
    stands_in = Deployment.objects.create(name="e", base_url="http://127.0.0.1:2/v1", model="m")
    Deployment.objects.update(enabled=False)
    named = uuid.uuid4() if which == "unknown" else deployment.pk
    body = {"kind": "message", "message": "hello", "deployment": str(named)}
    refused = as_alice.post(f"/api/conversations/{conversation}/inputs", body)
    assert refused.status_code == 422
    assert refused.json()["error"]["fields"] == [{"field": "deployment", "reason": "not_found"}]
    if which == "disabled":
        Deployment.objects.filter(pk=stands_in.pk).update(enabled=True)
        Deployment.objects.filter(pk=deployment.pk).update(fallback=stands_in)
        path = f"/api/conversations/{conversation}/inputs"
        assert as_alice.post(path, body).status_code == 202

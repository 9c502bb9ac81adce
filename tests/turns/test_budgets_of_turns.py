"""What a turn may use: held before each call, counted at its commit, told when it is over."""

import re
from collections.abc import Iterator
from decimal import Decimal

import pytest

from agents.gateway import budgets
from agents.gateway.models import Budget, BudgetHold, Deployment, ModelCall
from audit.reasons import Reason
from audit.refusals import RateLimited
from tests.patience import until
from tests.turns.conftest import Desk

pytestmark = pytest.mark.stack
CALL = 'call: search_about {"question": "keyboard shortcuts"}'


@pytest.fixture(autouse=True)
def no_budget_stays(committed_db: None) -> Iterator[None]:
    """Budgets change what other tests count."""
    yield
    Budget.objects.all().delete()


def given(desk: Desk, amount: int, unit: str = "tokens") -> Budget:
    made = Budget(member=desk.member, unit=unit, period="day", amount=amount)
    budgets.save(actor="system:tests", budget=made)
    return made


def counts(made: Budget) -> tuple[int, int]:
    made.refresh_from_db()
    return made.used, made.held


def test_what_a_turn_used_counts_and_nothing_stays_held(desk: Desk) -> None:
    made = given(desk, 1_000_000)
    desk.answered(f"{CALL}\nusage: 100 20\nthen:\nsay: Done.\nusage: 200 30")
    assert counts(made) == (350, 0)
    desk.answered("say: Again.\nfault: status 503 times 1\nusage: 40 10")
    assert counts(made)[1] == 0
    assert not BudgetHold.objects.filter(budget=made).exists()


def test_a_stopped_turn_gives_back_what_it_held(desk: Desk) -> None:
    made = given(desk, 1_000_000)
    asked = desk.ask("tokens: 3000 @ 20/s")
    desk.seen(asked, {"agent_run_started"})
    until(lambda: counts(made)[1] > 0, "the call holds its budget")
    desk.stop()
    desk.ended(asked)
    used, held = counts(made)
    assert held == 0
    assert 0 < used < 3_000  # its input was sent, and is all that anybody knows


def test_a_turn_without_room_ends_and_says_when_there_will_be_some(desk: Desk) -> None:
    made = given(desk, 100)
    asked = desk.ask("say: never said")
    ended = desk.ended(asked)
    assert (ended.kind, ended.data["reason"]) == ("agent_run_failed", "budget_exhausted")
    assert re.search(r"It renews in \d+ (minutes|hours)", ended.data["message"])
    assert not ModelCall.objects.filter(run_id=asked.run_id).exists()
    assert counts(made) == (0, 0)


def test_a_turn_that_uses_its_budget_up_ends_and_the_next_is_not_let_in(desk: Desk) -> None:
    made = given(desk, 30_000)
    asked = desk.ask(f"{CALL}\nusage: 29000 2000\nthen:\nsay: never said")
    ended = desk.ended(asked)
    assert ended.data["reason"] == "budget_exhausted"
    assert counts(made) == (31_000, 0)
    assert ended.data["usage"]["total_tokens"] == 31_000
    with pytest.raises(RateLimited) as refused:
        desk.ask("say: anything")
    assert refused.value.reason is Reason.BUDGET_EXHAUSTED
    made.enabled = False
    budgets.save(actor="system:tests", budget=made)
    assert desk.ended(desk.ask("say: Hello")).kind == "agent_run_completed"


def test_money_is_counted_at_the_prices_of_the_call(desk: Desk) -> None:
    Deployment.objects.update(input_price=Decimal("2.5"), output_price=Decimal(10))
    try:
        made = given(desk, 5_000_000, unit="money")
        asked = desk.answered("say: Hello\nusage: 1000 200")
        assert counts(made) == (4_500, 0)
        assert ModelCall.objects.get(run_id=asked.run_id).cost == 4_500
        assert desk.ended(asked).data["usage"]["cost"] == "0.0045"
    finally:
        Deployment.objects.update(input_price=0, output_price=0)


@pytest.mark.req("GRD-003")
def test_a_turn_ends_at_the_bound_of_its_deployment(desk: Desk) -> None:
    Deployment.objects.update(turn_tokens=1_000)
    try:
        asked = desk.ask(f"{CALL}\nusage: 900 150\nthen:\nsay: never said")
        ended = desk.ended(asked)
        assert (ended.kind, ended.data["reason"]) == ("agent_run_failed", "token_limit")
        assert desk.ended(desk.ask("say: Hello")).kind == "agent_run_completed"
    finally:
        Deployment.objects.update(turn_tokens=None)


def test_a_provider_that_asks_for_too_long_a_wait_is_named_with_the_time(desk: Desk) -> None:
    ended = desk.ended(desk.ask("fault: status 429 retry-after 3600\nsay: never said"))
    assert (ended.kind, ended.data["reason"]) == ("agent_run_failed", "rate_limited")
    assert "60 minutes" in ended.data["message"]

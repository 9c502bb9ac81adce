"""What a person used of models, by day, and what their budgets leave."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from agents.gateway.models import Budget, Deployment, ModelCall
from agents.members.models import Member

pytestmark = pytest.mark.django_db


@pytest.fixture
def used() -> Callable[..., None]:
    """Account for one call of somebody: `used(alice, prompt_tokens=20)`."""
    deployment = Deployment.objects.create(name="d", base_url="http://127.0.0.1:1/v1", model="m")

    def make(member: Member, **values: Any) -> None:
        usual = {"outcome": "complete", "model": "m", "input_price": Decimal(1)}
        ModelCall(
            member=member, deployment=deployment, at=datetime.now(UTC), **{**usual, **values}
        ).save()

    return make


def cells(client: Client) -> list[str]:
    """The texts of the table's cells, row by row."""
    page = client.get("/usage").content.decode()
    body = page.split("<tbody>")[1].split("</tbody>")[0]
    found = re.findall(r"<td[^>]*>(.*?)</td>", body, re.S)
    return [re.sub(r"<[^>]+>|\s+", " ", each).strip() for each in found]


def test_it_says_so_where_nothing_was_used(
    client_of: Callable[[Member], Client], alice: Member
) -> None:
    assert "Nothing was used yet." in client_of(alice).get("/usage").content.decode()


def test_it_adds_up_ones_own_calls(
    client_of: Callable[[Member], Client], alice: Member, bob: Member, used: Callable[..., None]
) -> None:
    for _ in range(2):
        used(alice, prompt_tokens=700, completion_tokens=9, cost=1_250_000)
    used(bob, prompt_tokens=5)
    assert cells(client_of(alice)) == ["", "2", "1,400", "18", "2.5000"]
    assert cells(client_of(bob)) == ["", "1", "5", "0"]


def test_it_says_what_budgets_leave(client_of: Callable[[Member], Client], alice: Member) -> None:
    Budget.objects.create(member=alice, unit="tokens", period="day", amount=20_000)
    page = client_of(alice).get("/usage").content.decode()
    assert "0 of 20,000" in page
    assert '<progress max="20000" value="0"' in page

"""What waits for a person: listed, counted, and nobody else's."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.members.models import Member
from tests.approvals.asking import PLAN, asked_about
from tests.web.test_pages import opening
from tools.boundary import approvals

pytestmark = pytest.mark.django_db


def items(client: Client) -> list[dict[str, Any]]:
    """What the open inbox page would be told."""
    listed: list[dict[str, Any]] = client.get("/inbox/items").json()["items"]
    return listed


def badge(client: Client, path: str = "/") -> str:
    """The count beside the inbox as a page carries it."""
    page = client.get(path).content.decode()
    return page.split('id="inbox-badge"')[1].split("<span", 1)[0]


def test_it_lists_the_exact_calls_that_wait(
    client_of: Callable[[Member], Client], alice: Member, talk: Callable[..., UUID]
) -> None:
    asked = asked_about(alice, conversation_id=talk(alice, "Keep the plan"))
    (item,) = items(client_of(alice))
    assert item["arguments"] == PLAN
    assert item["state"] == "pending"
    assert item["title"] == "Keep the plan"
    assert item["digest"] == asked.row.digest
    assert opening(client_of(alice), "/inbox")["items"] == [item]


@pytest.mark.req("UIX-004")
def test_nobody_sees_what_waits_for_another(
    client_of: Callable[[Member], Client], alice: Member, bob: Member, agents: None
) -> None:
    asked_about(alice)
    assert items(client_of(bob)) == []
    assert "hidden>0" in badge(client_of(bob))


@pytest.mark.parametrize("path", ["/", "/inbox", "/sidebar"])
def test_the_badge_counts_until_all_is_settled(
    client_of: Callable[[Member], Client], alice: Member, agents: None, path: str
) -> None:
    asked = [asked_about(alice), asked_about(alice)]
    client = client_of(alice)
    assert ">2" in badge(client, path)
    assert "hidden" not in badge(client, path)
    for each in asked:
        approvals.decide(
            member=alice,
            approval_id=each.row.id,
            decision="deny",
            digest=each.row.digest,
            reason="Not now.",
            tell=lambda rows: None,
        )
    assert "hidden>0" in badge(client, path)
    assert {(item["state"], item["reason"]) for item in items(client)} == {("denied", "Not now.")}


def test_a_question_whose_time_is_over_does_not_count(
    client_of: Callable[[Member], Client], alice: Member, agents: None
) -> None:
    asked_about(alice).lapse()
    assert "hidden>0" in badge(client_of(alice))


def test_it_asks_the_same_number_of_questions_however_much_waits(
    client_of: Callable[[Member], Client], alice: Member, agents: None
) -> None:
    client = client_of(alice)

    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            items(client)
        return len(captured)

    asked_about(alice)
    one = queries()
    for _ in range(4):
        asked_about(alice)
    assert queries() == one

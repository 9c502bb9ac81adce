"""Telling a running turn something over REST."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from agents.conversations.models import Input
from tests.api.conftest import Caller
from tools.effects.models import RunClaim

pytestmark = pytest.mark.django_db


@pytest.fixture
def turn(as_alice: Caller, conversation: str, agent: str) -> str:
    """A turn that is being worked for alice."""
    answer = as_alice.post(
        f"/api/conversations/{conversation}/inputs",
        {"kind": "message", "message": "Ferries?", "agent": agent},
    )
    run_id = Input.objects.get(id=answer.json()["input_id"]).run_id
    RunClaim.objects.filter(run_id=run_id).update(
        state="running", fence=1, lease_until=Now() + timedelta(minutes=1)
    )
    return str(run_id)


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.req("INP-002")
def test_a_repeat_gives_the_same_bytes_even_when_the_turn_has_ended(
    as_alice: Caller, conversation: str, turn: str
) -> None:
    path = f"/api/conversations/{conversation}/steer"
    body = {"message": "Only mornings.", "turn_id": turn}
    first = as_alice.post(path, body, key="once")
    assert first.status_code == 202
    assert first.json()["status"] == "pending"
    RunClaim.objects.filter(run_id=turn).update(settled_at=Now())
    again = as_alice.post(path, dict(reversed(body.items())), key="once")
    assert (again.status_code, again.content) == (202, first.content)
    other = as_alice.post(path, {**body, "message": "Only evenings."}, key="once")
    assert code(other) == (409, "idempotency_conflict")
    assert code(as_alice.post(path, body)) == (409, "turn_not_live")


def test_a_waiting_message_is_changed_and_withdrawn(
    as_alice: Caller, conversation: str, turn: str
) -> None:
    path = f"/api/conversations/{conversation}"
    told = as_alice.post(f"{path}/steer", {"message": "One.", "turn_id": turn}).json()
    one = f"{path}/steers/{told['steer_id']}"
    changed = as_alice.send("PATCH", one, {"message": "First."})
    assert (changed.status_code, changed.json()) == (
        200,
        {"steer_id": told["steer_id"], "turn_id": turn, "message": "First."},
    )
    assert [as_alice.send("DELETE", one).status_code for _ in range(2)] == [204, 204]
    assert code(as_alice.send("PATCH", one, {"message": "Again."})) == (409, "conflict")


@pytest.mark.parametrize(
    ("body", "status"),
    [({"message": ""}, 422), ({"message": "x", "turn_id": "y"}, 422), ({}, 422), (None, 400)],
)
def test_a_change_that_says_nothing_is_refused(
    as_alice: Caller, conversation: str, turn: str, body: Any, status: int
) -> None:
    path = f"/api/conversations/{conversation}"
    told = as_alice.post(f"{path}/steer", {"message": "One.", "turn_id": turn}).json()
    answer = as_alice.send("PATCH", f"{path}/steers/{told['steer_id']}", body)
    assert answer.status_code == status


def test_a_waiting_message_is_queued_instead(
    as_alice: Caller, conversation: str, turn: str
) -> None:
    path = f"/api/conversations/{conversation}"
    told = as_alice.post(f"{path}/steer", {"message": "One.", "turn_id": turn}).json()
    asked = as_alice.post(f"{path}/steers/{told['steer_id']}/queue", {})
    assert (asked.status_code, asked.json()["status"]) == (202, "queued")
    again = as_alice.post(f"{path}/steers/{told['steer_id']}/queue", {})
    assert (again.status_code, again.content) == (202, asked.content)
    (waiting,) = [
        each
        for each in as_alice.get(f"{path}/queue").json()["items"]
        if each["input_id"] == asked.json()["input_id"]
    ]
    assert waiting["message"] == "One."

"""What waits, branches and summing up over REST."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from agents.conversations.models import Input
from tests.api.conftest import Caller
from tools.effects.models import RunClaim

pytestmark = pytest.mark.django_db


@pytest.fixture
def path(conversation: str) -> str:
    return f"/api/conversations/{conversation}"


def ask(caller: Caller, path: str, agent: str, text: str, **more: Any) -> str:
    body = {"kind": "message", "message": text, "agent": agent, **more}
    answer = caller.post(f"{path}/inputs", body)
    assert answer.status_code == 202, answer.content
    return str(answer.json()["input_id"])


def work(input_id: str, **claim: Any) -> None:
    row = Input.objects.get(id=input_id)
    Input.objects.filter(id=input_id).update(status="completed" if claim else "active")
    values = claim or {"state": "running", "fence": 1, "lease_until": Now() + timedelta(minutes=1)}
    RunClaim.objects.filter(run_id=row.run_id).update(**values)


def end(input_id: str) -> None:
    work(input_id, state="settled", settled_at=Now())


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def waiting(caller: Caller, path: str) -> list[tuple[str, str]]:
    items = caller.get(f"{path}/queue").json()["items"]
    return [(item["input_id"], item["message"]) for item in items]


def test_what_waits_is_changed_taken_back_and_told(as_alice: Caller, path: str, agent: str) -> None:
    one, two, three, four = (ask(as_alice, path, agent, text) for text in ("1", "2", "3", "4"))
    work(one)
    changed = as_alice.send("PATCH", f"{path}/inputs/{two}", {"message": "second"})
    assert (changed.status_code, changed.json()["message"]) == (200, "second")
    deleted = [as_alice.send("DELETE", f"{path}/inputs/{three}") for _ in range(2)]
    assert [answer.status_code for answer in deleted] == [204, 204]
    told = [as_alice.send("POST", f"{path}/inputs/{four}/steer") for _ in range(2)]
    assert [answer.status_code for answer in told] == [202, 202]
    assert told[0].content == told[1].content
    assert waiting(as_alice, path) == [(two, "second")]
    late = as_alice.send("PATCH", f"{path}/inputs/{one}", {"message": "x"})
    assert code(late) == (409, "conflict")
    assert code(as_alice.send("DELETE", f"{path}/inputs/{one}")) == (409, "conflict")


def test_an_edit_is_a_sibling_and_either_can_be_shown(
    as_alice: Caller, path: str, agent: str
) -> None:
    one = ask(as_alice, path, agent, "one")
    busy = {"kind": "message", "message": "eins", "replaces": one}
    assert code(as_alice.post(f"{path}/inputs", busy)) == (409, "turn_open")
    end(one)
    edited = ask(as_alice, path, agent, "eins", replaces=one)
    end(edited)
    assert as_alice.get(path).json()["active_input"] == edited
    shown = as_alice.post(f"{path}/branch", {"input_id": one})
    assert (shown.status_code, shown.json()) == (200, {"active_input": one})
    assert as_alice.get(path).json()["active_input"] == one
    frames = as_alice.get(f"{path}/events?after=0", Accept="application/json").json()["items"]
    assert [frame["data"]["replaces"] for frame in frames if "replaces" in frame["data"]] == [
        None,
        one,
    ]


@pytest.mark.parametrize("replaces", ["x", 7, "00000000-0000-4000-8000-000000000000"])
def test_what_cannot_be_replaced_is_named(as_alice: Caller, path: str, replaces: Any) -> None:
    body = {"kind": "message", "message": "x", "replaces": replaces}
    answer = as_alice.post(f"{path}/inputs", body)
    assert answer.status_code == 422
    assert answer.json()["error"]["fields"][0]["field"] == "replaces"


def test_a_conversation_is_summed_up_once_for_a_key(
    as_alice: Caller, path: str, agent: str
) -> None:
    assert code(as_alice.post(f"{path}/compact")) == (409, "conflict")
    end(ask(as_alice, path, agent, "one"))
    first = as_alice.post(f"{path}/compact", key="once")
    again = as_alice.post(f"{path}/compact", key="once")
    assert (first.status_code, first.content) == (202, again.content)
    assert as_alice.send("POST", f"{path}/compact").status_code == 400
    assert Input.objects.filter(kind="compaction").count() == 1

"""Approvals over REST: read, decide, take back, and what is refused."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from agents.members.models import Member, TokenScope
from tests.api.conftest import Caller
from tests.approvals.asking import PLAN, Asked, asked_about

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(alice: Member) -> Asked:
    return asked_about(alice)


def path(asked: Asked, more: str = "") -> str:
    return f"/api/approvals/{asked.row.id}{more}"


def body(asked: Asked, decision: str = "approve", **more: Any) -> dict[str, Any]:
    return {"decision": decision, "digest": asked.row.digest, **more}


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, json.loads(answer.content)["error"]["code"]


@pytest.mark.req("UIX-004")
def test_one_reads_the_exact_call(asked: Asked, as_alice: Caller) -> None:
    answer = json.loads(as_alice.get(path(asked)).content)
    assert answer["arguments"] == PLAN
    assert (answer["state"], answer["tool"], answer["effect"]) == (
        "pending",
        "create_artifact",
        "write",
    )
    assert (answer["digest"], answer["turn_id"]) == (asked.row.digest, str(asked.identity.run_id))


def test_what_waits_is_listed_first_page_by_page(alice: Member, as_alice: Caller) -> None:
    rows = [asked_about(alice) for _ in range(4)]
    as_alice.post(path(rows[3]), body(rows[3]))
    rows[2].lapse()
    seen: list[tuple[str, str]] = []
    cursor = ""
    while True:
        answer = json.loads(as_alice.get(f"/api/approvals?limit=1{cursor}").content)
        seen += [(item["id"], item["state"]) for item in answer["items"]]
        if answer["next"] is None:
            break
        cursor = f"&cursor={answer['next']}"
    assert seen == [
        (str(rows[1].row.id), "pending"),
        (str(rows[0].row.id), "pending"),
        (str(rows[3].row.id), "approved"),
        (str(rows[2].row.id), "pending"),
    ]
    assert "arguments" not in answer["items"][0]


def test_the_same_decision_twice_is_the_same_answer(asked: Asked, as_alice: Caller) -> None:
    first = as_alice.post(path(asked), body(asked, "deny", reason="Not now."))
    assert first.status_code == 200
    assert json.loads(first.content)["outcome"] == "denied"
    again = as_alice.post(path(asked), body(asked, "deny", reason="Not now."))
    assert (again.status_code, again.content) == (200, first.content)
    assert code(as_alice.post(path(asked), body(asked))) == (409, "approval_settled")


def test_a_decision_about_other_bytes_or_too_late_is_a_conflict(
    asked: Asked, as_alice: Caller
) -> None:
    other = {**body(asked), "digest": asked.row.digest[:-1] + "x"}
    assert code(as_alice.post(path(asked), other)) == (409, "approval_mismatch")
    asked.lapse()
    assert code(as_alice.post(path(asked), body(asked))) == (409, "approval_expired")
    assert asked.state == "pending"


def test_a_question_is_taken_back_once(asked: Asked, as_alice: Caller) -> None:
    first = as_alice.post(path(asked, "/withdraw"))
    assert json.loads(first.content)["outcome"] == "withdrawn"
    assert as_alice.post(path(asked, "/withdraw")).content == first.content
    assert code(as_alice.post(path(asked), body(asked))) == (409, "approval_settled")


def test_an_unwatched_call_is_asked_about_when_its_member_comes(
    alice: Member, as_alice: Caller
) -> None:
    asked = asked_about(alice, watched=False)
    assert json.loads(as_alice.get(path(asked)).content)["state"] == "unasked"
    assert as_alice.post(path(asked, "/answer")).status_code == 202
    assert as_alice.post(path(asked, "/answer")).status_code == 202
    assert (asked.state, asked.claim.state) == ("answered", "queued")


def test_somebody_elses_approval_looks_missing(
    asked: Asked, bob: Member, ada: Member, calling: Callable[..., Caller]
) -> None:
    missing = f"/api/approvals/{uuid4()}"
    for person in (bob, ada):
        caller = calling(person)
        for ending in ("", "/withdraw", "/answer"):
            sent = body(asked) if not ending else None
            foreign = caller.post(path(asked, ending), sent)
            assert (foreign.status_code, foreign.content) == (
                404,
                caller.post(missing + ending, sent).content,
            )
        assert json.loads(caller.get("/api/approvals").content)["items"] == []
    assert asked.state == "pending"


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"decision": "maybe"}, "decision"),
        ({"digest": 7}, "digest"),
        ({"digest": None}, "digest"),
        ({"reason": "x" * 501}, "reason"),
        ({"member_id": 1}, "member_id"),
        ({"arguments": {}}, "arguments"),
    ],
)
def test_a_body_of_the_wrong_form_is_named(
    wrong: dict[str, Any], field: str, asked: Asked, as_alice: Caller
) -> None:
    answer = as_alice.post(path(asked), {**body(asked), **wrong})
    assert answer.status_code == 422
    assert [each["field"] for each in json.loads(answer.content)["error"]["fields"]] == [field]
    assert asked.state == "pending"


@pytest.mark.parametrize("raw", [b'{"decision":"approve","decision":"deny"}', b'{"a":NaN}', b"["])
def test_json_that_means_two_things_is_refused(raw: bytes, asked: Asked, as_alice: Caller) -> None:
    assert code(as_alice.post(path(asked), raw)) == (400, "bad_json")


def test_a_token_that_may_only_read_decides_nothing(
    asked: Asked, alice: Member, calling: Callable[..., Caller]
) -> None:
    reader = calling(alice, TokenScope.READ)
    assert reader.get(path(asked)).status_code == 200
    for ending in ("", "/withdraw", "/answer"):
        sent = body(asked) if not ending else None
        assert code(reader.post(path(asked, ending), sent)) == (403, "scope_missing")
    assert asked.state == "pending"

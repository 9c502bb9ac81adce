"""Access tokens: shown once, stored hashed, within scope, ended at once."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from agents.api.models import KeptAnswer
from agents.members.models import AccessToken, Member, TokenScope
from tests.api.conftest import Caller

pytestmark = pytest.mark.django_db


def test_a_token_is_shown_once_and_opens_the_door(as_alice: Caller) -> None:
    made = as_alice.post("/api/tokens", {"name": "laptop", "scope": "write", "days": 7}).json()
    assert Caller(made["token"]).get("/api/me").json()["scope"] == "write"
    listed = as_alice.get("/api/tokens").json()["items"]
    assert listed[0]["name"] == "laptop"
    assert "token" not in listed[0]
    stored = AccessToken.objects.get(id=made["id"])
    assert made["token"] not in {stored.digest, stored.name}
    assert timezone.now() + timedelta(days=6) < stored.expires_at


def test_repeating_the_call_makes_no_second_token_and_tells_no_secret(
    as_alice: Caller, alice: Member
) -> None:
    body = {"name": "laptop"}
    first, second = (as_alice.post("/api/tokens", body, key="once").json() for _ in range(2))
    assert second == {**first, "token": None}
    assert AccessToken.objects.filter(member=alice, name="laptop").count() == 1
    assert first["token"].encode() not in bytes(KeptAnswer.objects.get(key="once").body)


@pytest.mark.parametrize(
    ("scope", "statuses"),
    [
        (TokenScope.READ, [200, 403, 403]),
        (TokenScope.WRITE, [200, 201, 403]),
        (TokenScope.ADMIN, [200, 201, 201]),
    ],
)
def test_a_token_reaches_as_far_as_its_scope(
    calling: object, alice: Member, scope: TokenScope, statuses: list[int]
) -> None:
    caller = calling(alice, scope)  # type: ignore[operator]  # the fixture is a function
    answers = [
        caller.get("/api/conversations"),
        caller.post("/api/conversations"),
        caller.post("/api/tokens", {"name": "another"}),
    ]
    assert [answer.status_code for answer in answers] == statuses
    refused = [answer for answer in answers if answer.status_code == 403]
    assert all(answer.json()["error"]["code"] == "scope_missing" for answer in refused)


def test_a_revoked_token_opens_nothing_more(as_alice: Caller) -> None:
    made = as_alice.post("/api/tokens", {"name": "lost", "scope": "admin"}).json()
    lost = Caller(made["token"])
    assert lost.send("DELETE", f"/api/tokens/{made['id']}").status_code == 204
    answer = lost.get("/api/me")
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert as_alice.send("DELETE", f"/api/tokens/{made['id']}").status_code == 404


def test_an_expired_token_and_one_of_an_inactive_person_open_nothing(
    as_alice: Caller, as_charlie: Caller, alice: Member, charlie: Member
) -> None:
    AccessToken.objects.filter(member=alice).update(expires_at=timezone.now())
    charlie.is_active = False
    charlie.save()
    answers = [as_alice.get("/api/me"), as_charlie.get("/api/me"), Caller("kz_x").get("/api/me")]
    assert [answer.status_code for answer in answers] == [401] * 3
    assert len({answer.content for answer in answers}) == 1


def test_a_bad_token_is_not_passed_over_for_a_session(alice: Member) -> None:
    caller = Caller("kz_wrong")
    caller.client.force_login(alice, "agents.members.backends.ThrottledModelBackend")
    assert caller.get("/api/me").status_code == 401
    assert Caller("", caller.client).get("/api/me").status_code == 200


def test_a_session_needs_its_csrf_proof_to_change_something(alice: Member) -> None:
    caller = Caller("")
    caller.client.handler.enforce_csrf_checks = True
    caller.client.force_login(alice, "agents.members.backends.ThrottledModelBackend")
    refused = caller.post("/api/conversations")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "csrf_failed")
    caller.client.cookies["csrftoken"] = secret = "a" * 32
    allowed = caller.send("POST", "/api/conversations", key="k", **{"X-CSRFToken": secret})
    assert allowed.status_code == 201


@pytest.mark.parametrize(
    ("body", "field", "reason"),
    [
        ({}, "name", "missing_field"),
        ({"name": ""}, "name", "too_short"),
        ({"name": " \t"}, "name", "invalid_field"),
        ({"name": "x" * 101}, "name", "too_long"),
        ({"name": "x", "days": 366}, "days", "invalid_field"),
        ({"name": "x", "days": "7"}, "days", "invalid_field"),
        ({"name": "x", "days": True}, "days", "invalid_field"),
        ({"name": "x", "scope": "root"}, "scope", "invalid_field"),
        ({"name": 7}, "name", "invalid_field"),
    ],
)
def test_wrong_fields_are_named(
    as_alice: Caller, body: dict[str, object], field: str, reason: str
) -> None:
    answer = as_alice.post("/api/tokens", body)
    assert answer.status_code == 422
    assert answer.json()["error"]["fields"] == [{"field": field, "reason": reason}]


def test_the_command_prints_a_token_that_works(
    alice: Member, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("token", alice.username, "--scope", "read", "--days", "2")
    text = capsys.readouterr().out.strip()
    assert Caller(text).get("/api/me").json() == {
        "id": str(alice.pk),
        "username": alice.username,
        "name": "Alice",
        "roles": ["member"],
        "time_zone": "UTC",
        "theme": "system",
        "plain_speak": False,
        "compress_tool_results": False,
        "default_during_run": "steer",
        "effort": "",
        "scope": "read",
    }


@pytest.mark.parametrize("arguments", [["nobody"], ["alice", "--days", "0"]])
def test_the_command_refuses_what_cannot_be(arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        call_command("token", *arguments)

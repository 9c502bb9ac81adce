"""The form of answers: slashes, methods, limits, negotiation, and faults that tell nothing."""

import logging
from typing import Any

import pytest
from django.db import OperationalError
from django.test import RequestFactory

from agents.api import errors
from agents.conversations.inputs import MAX_OPEN_INPUTS
from kaizen import faults, negotiation
from tests.api.conftest import Caller

NOT_FOUND = b'{"error":{"code":"not_found","message":"Not found.","fields":[]}}'


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/api/agents/", "/api/agents//", "/api/conversations/?q=%C3%A9"])
def test_reading_with_a_slash_is_sent_on(as_alice: Caller, path: str) -> None:
    answer = as_alice.get(path)
    assert answer.status_code == 308
    assert answer["Location"] == path.replace("//", "/").replace("s/", "s")
    assert as_alice.get(answer["Location"]).status_code == 200


@pytest.mark.django_db
def test_nothing_else_with_a_slash_is_answered(as_alice: Caller) -> None:
    answers = [
        as_alice.post("/api/agents/", {"content": {}}),
        as_alice.send("DELETE", "/api/agents/"),
        as_alice.get("/api/nothing/"),
        as_alice.get("/api/%2f%2fevil.example/"),
        as_alice.get("/api/"),
        as_alice.get("/api"),
    ]
    assert [answer.status_code for answer in answers] == [404] * 6
    assert {answer.content for answer in answers[:5]} == {NOT_FOUND}


@pytest.mark.django_db
def test_an_unknown_path_answers_like_a_missing_object(as_alice: Caller) -> None:
    unknown, missing = as_alice.get("/api/nothing"), as_alice.get(f"/api/agents/{'0' * 8}")
    assert unknown.content == missing.content == NOT_FOUND
    assert dict(unknown.headers) == dict(missing.headers)


@pytest.mark.django_db
def test_a_method_the_path_does_not_take_is_named(as_alice: Caller) -> None:
    answer = as_alice.send("PATCH", "/api/agents", {})
    assert (answer.status_code, answer["Allow"]) == (405, "GET, POST, HEAD")
    assert answer.json()["error"]["code"] == "method_not_allowed"
    assert as_alice.send("OPTIONS", "/api/agents").status_code == 405


@pytest.mark.django_db
def test_a_head_answers_like_a_get_without_the_body(as_alice: Caller) -> None:
    answer = as_alice.send("HEAD", "/api/agents")
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.django_db
def test_too_many_waiting_inputs_are_refused_with_a_time_to_come_back(
    as_alice: Caller, conversation: str, agent: str
) -> None:
    path = f"/api/conversations/{conversation}/inputs"
    body = {"kind": "message", "message": "hello", "agent": agent}
    answers = [as_alice.post(path, body) for _ in range(MAX_OPEN_INPUTS + 1)]
    assert [answer.status_code for answer in answers] == [202] * MAX_OPEN_INPUTS + [429]
    assert answers[-1].json()["error"]["code"] == "limit_reached"
    assert int(answers[-1]["Retry-After"]) >= 1


@pytest.mark.parametrize(
    ("accept", "stream"),
    [
        (None, True),
        ("*/*", True),
        ("text/event-stream", True),
        ("text/*", True),
        ("application/json, text/event-stream", True),
        ("application/json", False),
        ("application/json, */*;q=0.5", False),
        ("text/event-stream;q=0.2, application/json", False),
        ("text/html", False),
    ],
)
def test_the_stream_is_chosen_unless_json_is_liked_better(accept: str | None, stream: bool) -> None:
    headers = {} if accept is None else {"Accept": accept}
    request = RequestFactory().get("/", headers=headers)
    assert negotiation.prefers_stream(request) is stream


def test_a_fault_is_logged_whole_and_answered_with_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = errors.handle(ValueError("the secret of the house"), {})
    assert answer.status_code == 500
    assert answer.content == (
        b'{"error":{"code":"internal_error",'
        b'"message":"Something went wrong on our side.","fields":[]}}'
    )
    assert caplog.records[0].exc_info is not None


def test_a_database_that_does_not_answer_is_a_matter_of_time() -> None:
    answer = errors.handle(OperationalError("canceling statement due to lock timeout"), {})
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert b"lock" not in answer.content


@pytest.mark.parametrize(
    ("handler", "status"),
    [
        (faults.bad_request, 400),
        (faults.permission_denied, 403),
        (faults.not_found, 404),
        (faults.server_error, 500),
    ],
)
def test_programs_get_json_and_people_get_a_page(handler: Any, status: int) -> None:
    for path, kind in (("/api/x", "application/json"), ("/x", "text/html; charset=utf-8")):
        answer = handler(RequestFactory().get(path), ValueError("hidden words"))
        assert (answer.status_code, answer["Content-Type"]) == (status, kind)
        assert b"hidden words" not in answer.content

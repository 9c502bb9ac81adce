"""The JSON door: any bytes are stored faithfully or refused with 4xx, never a fault."""

import itertools
import os
import random
import re
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from agents.api.operations import Door, Operation
from agents.definitions.models import AgentVersion
from agents.members.models import Member
from tests.api import bodies
from tests.api.conftest import Caller
from tests.owned import one_of_each
from tests.patience import promised

pytestmark = pytest.mark.django_db

FUZZ_REQUESTS = int(os.environ.get("KAIZEN_FUZZ_REQUESTS", "600"))


def json_doors() -> list[tuple[str, str, type[Door]]]:
    """Every method and path that reads a body with its view, from the routes themselves."""

    def walk(
        patterns: list[URLPattern | URLResolver], prefix: str
    ) -> Iterator[tuple[str, str, type[Door]]]:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, route)
                continue
            view = getattr(pattern.callback, "cls", None)
            if isinstance(view, type) and issubclass(view, Door):
                for method in ("POST", "PUT", "PATCH"):
                    if view.operation_of(method):
                        yield method, "/" + route, view

    return sorted(set(walk(get_resolver().url_patterns, "")), key=lambda door: door[:2])


DOORS = [(method, route) for method, route, _ in json_doors()]


# What some door somewhere takes, so that bodies get past the first look.
UUID_TEXT = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
PLAUSIBLE = ("message", "approve", "deny", "sha256:" + "0" * 64, "steer", "low", True, 1, "read")


def fields_of(operation: Operation | None) -> tuple[str, ...]:
    """Names of the fields a door reads."""
    if operation is None or operation.body is None:
        return ("message",)
    return tuple(operation.body().fields)


FIELDS = {
    (method, route): fields_of(view.operation_of(method)) for method, route, view in json_doors()
}


def test_there_are_doors_to_knock_at() -> None:
    assert ("POST", "/api/conversations/<id:conversation_id>/inputs") in DOORS
    assert len(DOORS) >= 9


@pytest.fixture
def paths(ada: Member) -> dict[str, str]:
    """Each door's route with ids of ada's own objects, so that bodies are really looked at."""
    own = one_of_each(ada)
    made = {}
    for _, route in DOORS:
        path = route
        for name, value in own.items():
            path = path.replace(f"<id:{name}>", value)
        made[route] = path
    assert not any("<" in path for path in made.values()), "a door needs an object made above"
    return made


@pytest.mark.parametrize(("method", "route"), DOORS)
def test_what_is_not_strict_json_is_refused(
    as_ada: Caller, paths: dict[str, str], method: str, route: str
) -> None:
    for kind, body in bodies.REFUSED.items():
        answer = as_ada.send(method, paths[route], body, key=str(uuid.uuid4()))
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_json"), kind
        assert set(answer.json()["error"]) == {"code", "message", "fields"}, kind


@pytest.mark.parametrize(("method", "route"), DOORS)
def test_what_has_the_wrong_shape_is_refused(
    as_ada: Caller, paths: dict[str, str], method: str, route: str
) -> None:
    for kind, value in bodies.WRONG_SHAPE.items():
        if value is None:
            continue  # `null` counts as no body where none is needed
        answer = as_ada.send(method, paths[route], bodies.texts(value), key=str(uuid.uuid4()))
        assert answer.status_code == 422, kind
        assert answer.json()["error"]["code"] == "invalid_body", kind
        assert answer.json()["error"]["fields"], kind


@pytest.mark.parametrize(("method", "route"), DOORS)
def test_a_body_over_the_limit_is_refused(
    as_ada: Caller, paths: dict[str, str], method: str, route: str
) -> None:
    body = b'{"message": "' + b"x" * bodies.HUGE + b'"}'
    answer = as_ada.send(method, paths[route], body, key=str(uuid.uuid4()))
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_of_another_type_is_refused(
    as_ada: Caller, paths: dict[str, str], content_type: str
) -> None:
    for method, route in DOORS:
        answer = as_ada.client.generic(
            method,
            paths[route],
            b'{"message": "x"}',
            content_type=content_type,
            headers={"Authorization": f"Bearer {as_ada.token}", "Idempotency-Key": "k"},
        )
        assert answer.status_code == 415, route
        assert answer.json()["error"]["code"] == "unsupported_media_type"


def test_a_multipart_body_of_a_session_is_refused(ada: Member) -> None:
    client = Client(raise_request_exception=False, enforce_csrf_checks=True)
    client.force_login(ada, "agents.members.backends.ThrottledModelBackend")
    client.cookies["csrftoken"] = "a" * 32
    answer = client.post(
        "/api/conversations",
        {"csrfmiddlewaretoken": "a" * 32},
        headers={"Idempotency-Key": "k"},
    )
    assert answer.status_code == 415


def test_odd_texts_come_back_as_they_were_sent(as_ada: Caller) -> None:
    conversation = as_ada.post("/api/conversations").json()["id"]
    agent = as_ada.post("/api/agents", {"content": {"name": "F", "persona": "p"}}).json()["id"]
    sent = [text for text in bodies.ODD_TEXTS if text.strip() and len(text) <= 32_000]
    for text in sent[:8]:
        body = {"kind": "message", "message": text, "agent": agent}
        assert as_ada.post(f"/api/conversations/{conversation}/inputs", body).status_code == 202
    events = as_ada.get(
        f"/api/conversations/{conversation}/events", Accept="application/json"
    ).json()["items"]
    assert [event["data"]["message"] for event in events] == sent[:8]


def test_persona_texts_are_stored_as_they_were_sent(as_ada: Caller) -> None:
    persona = "\u202eπλοίο\u202c\n\U0001f6a2 'OR 1=1' <b>"
    answer = as_ada.post("/api/agents", {"content": {"name": "F", "persona": persona}})
    stored = AgentVersion.objects.get(agent_id=answer.json()["id"])
    assert stored.content["persona"] == persona


def test_no_odd_value_makes_a_fault(as_ada: Caller, paths: dict[str, str]) -> None:
    seed = int(os.environ.get("KAIZEN_FUZZ_SEED", random.SystemRandom().randrange(2**32)))
    print(f"seed {seed}, {FUZZ_REQUESTS} requests")
    values = bodies.odd(seed)
    chance = random.Random(seed)
    doors = itertools.cycle(DOORS)
    answered: dict[int, int] = {}
    known = [*re.findall(UUID_TEXT, " ".join(sorted(paths.values()))), *PLAUSIBLE]
    for _ in range(FUZZ_REQUESTS):
        method, route = next(doors)
        value = next(values)
        if chance.random() < 0.5:
            value = bodies.shaped(chance, FIELDS[method, route], known)
        body = bodies.texts(value)
        if chance.random() < 0.3:  # break the text itself
            at = chance.randrange(len(body) + 1)
            body = body[:at] + bytes([chance.randrange(256)]) + body[at + chance.randrange(2) :]
        started = time.monotonic()
        answer = as_ada.send(method, paths[route], body, key=str(uuid.uuid4()))
        assert answer.status_code < 500, (seed, route, body[:200])
        assert time.monotonic() - started < promised(5), (seed, route, body[:200])
        answered[answer.status_code] = answered.get(answer.status_code, 0) + 1
    assert sum(answered.get(status, 0) for status in (400, 422)) > FUZZ_REQUESTS / 4, answered


@pytest.mark.parametrize(
    "path",
    [
        "/api/%00",
        "/api/agents/%00",
        "/api/agents/%ff%fe",
        "/api/agents/" + "9" * 4_000,
        "/api/agents/..%2f..%2fadmin",
        "/api/conversations/%F0%9F%9A%A2/events",
        "/api/agents?cursor=" + "A" * 501,
        "/api/agents?q=%ed%a0%80",
        "/api/agents?limit=" + "9" * 400,
        "/api/conversations?agent=" + "\u0000",
    ],
)
def test_no_odd_address_makes_a_fault(as_ada: Caller, path: str) -> None:
    assert as_ada.get(path, Accept="application/json").status_code < 500


@pytest.mark.parametrize("inside", ["", "content"])
def test_an_error_is_no_echo_of_a_large_body(as_ada: Caller, inside: str) -> None:
    body: Any = {f"{number}{'x' * 500}": 0 for number in range(1_000)}
    opened = as_ada.post("/api/conversations", {}, key=str(uuid.uuid4())).json()
    path = "/api/agents" if inside else f"/api/conversations/{opened['id']}/inputs"
    answer = as_ada.post(path, {inside: body} if inside else body, key=str(uuid.uuid4()))
    assert answer.status_code == 422
    fields = answer.json()["error"]["fields"]
    assert len(fields) == 50
    assert max(len(field["field"]) for field in fields) == 100


@pytest.mark.parametrize("header", ["", "x" * 201, "caf\u00e9", " inner\u0000"])
def test_a_key_of_the_wrong_form_is_refused(as_ada: Caller, header: str) -> None:
    answer = as_ada.client.generic(
        "POST",
        "/api/conversations",
        HTTP_AUTHORIZATION=f"Bearer {as_ada.token}",
        HTTP_IDEMPOTENCY_KEY=header,
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (
        400,
        "idempotency_key_invalid",
    )

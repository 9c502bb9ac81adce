"""What probes see."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client

from agents.turns import heartbeats

pytestmark = pytest.mark.django_db


def test_a_living_process_says_so() -> None:
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_it_is_ready_when_a_worker_was_seen() -> None:
    heartbeats.beat("tests")
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ready",
        "checks": {"database": True, "broker": True, "worker": True},
    }


def test_without_a_worker_it_is_not_ready_and_says_why() -> None:
    heartbeats.beat("tests")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE turns_workerheartbeat SET seen_at = now() - interval '16 s'")
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == {"database": True, "broker": True, "worker": False}


def test_without_a_broker_it_is_not_ready(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["broker"] is False


@pytest.mark.parametrize(
    ("request_from", "status"),
    [
        ({"REMOTE_ADDR": "127.0.0.1"}, 200),
        ({"REMOTE_ADDR": "::1"}, 200),
        ({"REMOTE_ADDR": "192.0.2.7"}, 404),
        ({"REMOTE_ADDR": ""}, 404),
        ({"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "127.0.0.1"}, 404),
        ({"REMOTE_ADDR": "192.0.2.7", "HTTP_AUTHORIZATION": "Bearer counts"}, 200),
        ({"REMOTE_ADDR": "192.0.2.7", "HTTP_AUTHORIZATION": "Bearer other"}, 404),
        ({"REMOTE_ADDR": "192.0.2.7", "HTTP_AUTHORIZATION": "Bearer "}, 404),
    ],
)
def test_metrics_are_for_a_token_or_this_machine(
    settings: Any, request_from: dict[str, str], status: int
) -> None:
    settings.METRICS_TOKEN = "counts"
    answer = Client().get("/metrics", **request_from)  # type: ignore[arg-type]  # CGI variables
    assert answer.status_code == status
    assert (b"kaizen_turn_ended_total" in answer.content) == (status == 200)


def test_no_token_set_means_no_token_opens(settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    for header in ("Bearer ", "Bearer", ""):
        answer = Client().get("/metrics", REMOTE_ADDR="192.0.2.7", HTTP_AUTHORIZATION=header)
        assert answer.status_code == 404


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_probes_only_read(path: str) -> None:
    assert Client().post(path).status_code == 405

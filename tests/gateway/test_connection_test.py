"""The connection test says in plain words what happened, shows no secret and leaves a trace."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.gateway import deployments, probe
from agents.gateway.models import Deployment, ModelCall
from agents.members.models import Member
from audit.models import AuditEvent
from tests.gateway.raw_server import RawServer, Reply, chunk, events, serving

pytestmark = pytest.mark.django_db

LEAK = b"sk-live-0123456789 for alice"
JSON = ("Content-Type: application/json",)
FINE = Reply([events(chunk(content="Hi"), chunk("length"))])


@pytest.fixture(autouse=True)
def shown_key(settings: Any) -> None:
    settings.SECRETS = {"KAIZEN_SECRET_A": "value-of-a"}


@pytest.fixture
def closed_sessions() -> None:
    """Nothing to close: the test runs in a loop of its own and closes that itself."""


@contextmanager
def running(*replies: Reply) -> Iterator[RawServer]:
    """A model server in a thread, since the test itself must not run in an event loop."""
    loop = asyncio.new_event_loop()
    started, ready, server = threading.Event(), asyncio.Event(), []

    async def serve() -> None:
        async with serving(*replies) as one:
            server.append(one)
            started.set()
            await ready.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert started.wait(10)
    try:
        yield server[0]
    finally:
        loop.call_soon_threadsafe(ready.set)
        thread.join()
        loop.close()


def deployed(url: str, **values: Any) -> Deployment:
    made = Deployment(
        name="d", base_url=url, model="m", secret_ref="KAIZEN_SECRET_A", enabled=False, **values
    )
    deployments.save(actor="system:tests", deployment=made, secret_entered=True)
    return made


@pytest.mark.parametrize(
    ("reply", "words", "reason"),
    [
        (FINE, "It works: the model answered after", ""),
        (Reply([events(chunk(reasoning="Hm"), chunk("length"))]), "It works", ""),
        (Reply([LEAK], status="401 No"), "does not accept the key. (Status 401.)", "provider_cre"),
        (Reply([LEAK], status="404 No"), "neither this path nor this model", "provider_refused"),
        (Reply([LEAK], status="400 No"), "refused the request. (Status 400.)", "provider_refused"),
        (Reply([LEAK], status="429 No"), "limits requests", "rate_limited"),
        (Reply([LEAK], status="503 No"), "(Status 503.)", "provider_unreachable"),
        (Reply([b"<html>" + LEAK], headers=("Content-Type: text/html",)), "not a model", "pro"),
        (Reply([LEAK]), "not a model server", "provider_garbage"),
        (Reply([b'{"hello": 1}'], headers=JSON), "before it had answered", "provider_cut_off"),
        (Reply([], end="reset"), "before it had answered", "provider_cut_off"),
        (Reply([events({"error": {"message": "invalid_api_key"}})]), "accept the key", "provider"),
    ],
)
def test_it_says_what_happened(ada: Member, reply: Reply, words: str, reason: str) -> None:
    with running(reply) as server:
        made = deployed(server.url)
        finding = probe.test(actor=ada, deployment=made)
    assert words in finding.words
    assert (finding.reason or "").startswith(reason)
    assert bool(finding.reason) == bool(reason)
    assert "sk-live" not in finding.words
    assert len(server.bodies) == 1
    assert (server.bodies[0]["max_tokens"], server.bodies[0]["messages"][0]["role"]) == (1, "user")
    assert "Authorization: Bearer value-of-a" in server.heads[0]
    row = ModelCall.objects.get()
    assert (row.purpose, row.member_id, row.outcome == "failed") == ("test", ada.pk, bool(reason))
    event = AuditEvent.objects.get(action="deployment_tested")
    assert (event.actor, event.subject_id) == (ada.principal, str(made.pk))
    assert (event.outcome, event.reason) == ("error" if reason else "success", finding.reason or "")


def test_it_does_not_wait_for_ever(ada: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "FIRST_BYTE_S", 0.3)
    with running(Reply(end="hold", before_head_s=30)) as server:
        finding = probe.test(actor=ada, deployment=deployed(server.url))
    assert "too slow" in finding.words


def test_a_slow_answer_is_called_slow(ada: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "SLOW_MS", 100)
    with running(Reply(FINE.reads, before_head_s=0.3)) as server:
        finding = probe.test(actor=ada, deployment=deployed(server.url))
    assert ("slowly" in finding.words, finding.reason) == (True, None)


def test_nobody_listens(ada: Member) -> None:
    with running(FINE) as server:
        url = server.url
    assert "Nobody answers there" in probe.test(actor=ada, deployment=deployed(url)).words


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"secret_ref": "KAIZEN_SECRET_GONE"}, "KAIZEN_SECRET_GONE"),
        ({"ca_bundle": "KAIZEN_CA_BUNDLE_GONE"}, "KAIZEN_CA_BUNDLE_GONE"),
        ({"base_url": "http://127.0.0.1:1/v2"}, "another address"),
    ],
)
def test_what_is_missing_here_is_said_without_asking_anybody(
    ada: Member, values: dict, words: str
) -> None:
    with running(FINE) as server:
        made = deployed(server.url)
        Deployment.objects.update(**values)
        finding = probe.test(actor=ada, deployment=Deployment.objects.get(pk=made.pk))
    assert words in finding.words
    assert server.bodies == []
    assert AuditEvent.objects.get(action="deployment_tested").outcome == "error"


@pytest.mark.parametrize(("who", "status"), [("ada", 302), ("otto", 403), ("alice", 302)])
def test_only_administrators_press_the_button(
    request: pytest.FixtureRequest, client: Client, who: str, status: int
) -> None:
    client.force_login(request.getfixturevalue(who))
    with running(FINE) as server:
        made = deployed(server.url)
        url = reverse("admin:gateway_deployment_test", args=[made.pk])
        assert client.get(url).status_code in (302, 403, 405)
        assert server.bodies == []
        answer = client.post(url)
    assert answer.status_code == status
    assert len(server.bodies) == (1 if who == "ada" else 0)
    if who == "ada":
        page = client.get(answer["Location"]).content.decode()
        assert "D: It works" in page
        assert "value-of-a" not in page
        assert f'action="{url}"' in page


def test_the_button_needs_a_proof_of_intent(ada: Member) -> None:
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(ada)
    made = deployed("http://127.0.0.1:1/v1")
    url = reverse("admin:gateway_deployment_test", args=[made.pk])
    assert careful.post(url).status_code == 403
    assert not ModelCall.objects.exists()


def test_no_deployment_no_test(ada: Member, client: Client) -> None:
    client.force_login(ada)
    url = reverse("admin:gateway_deployment_test", args=["00000000-0000-4000-8000-000000000000"])
    assert client.post(url).status_code == 404

"""Twelve planted secrets go in by every way there is and come out nowhere.

Ways in: environment, headers, cookies, arguments, results of tools, words of a failing provider,
signed URLs. Sinks: journal, audit, ledger of model calls, what models were sent, answers and error
pages, and the log of all processes.
"""

import json
import secrets
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from agents.gateway.models import Deployment, ModelCall
from agents.journal.models import Entry
from artifacts import writing
from audit.models import AuditEvent
from tests import canaries
from tests.canaries import CANARIES, found_in
from tests.stack import ROOT, free_port, wait_for
from tests.turns.conftest import Desk

pytestmark = pytest.mark.stack
KEY_BLOCK = (
    "-----BEGIN RSA " + "PRIVATE KEY-----\n{body}\nsecondline\n-----END RSA " + "PRIVATE KEY-----"
)


@dataclass
class LeakyModel:
    """A model whose answers are full of secrets, and what it was sent."""

    port: int
    deployment_id: UUID

    def requests(self) -> str:
        """Every request body it got, as text."""
        url = f"http://127.0.0.1:{self.port}/scripted/requests"
        with urllib.request.urlopen(url, timeout=5) as answer:
            return str(answer.read().decode())


def scripts(mark: str, artifact_id: UUID) -> list[dict[str, str]]:
    """What the model answers to each message."""
    signed = (
        "https://files.example/a?X-Amz-Signature=" + CANARIES["signed URL in an answer"] + "&b=1"
    )
    saved = {
        "title": "Notes",
        "kind": "text",
        "content": "the key: " + CANARIES["arguments of a call that runs"],
    }
    refused = {CANARIES["arguments of a call that is refused"]: 1, "title": 7}
    read = {"artifact_id": str(artifact_id)}
    answers = {
        "call": (
            f"call: create_artifact {json.dumps(saved)}\n"
            f"call: create_artifact {json.dumps(refused)}\n"
            f"call: read_artifact {json.dumps(read)}\n"
            f"then:\nsplit: 3\nthink: I saw {canaries.KEPT} there\n"
            f"say: It is at {signed} and the key is {canaries.KEPT} as said\n"
        ),
        "fail": f"fault: status 400 message no {CANARIES['words of a failing provider']}\n",
        "break": f"say: Begun\nfault: error {CANARIES['words of a failing provider']} {signed}\n",
        "echo": f"fault: status 401 message {canaries.KEPT} is wrong\n",
    }
    return [{"contains": f"{mark} {word}", "script": text} for word, text in answers.items()]


@pytest.fixture
def mark() -> str:
    return secrets.token_hex(6)


@pytest.fixture
def leaky(desk: Desk, mark: str, tmp_path: Path) -> Iterator[LeakyModel]:
    artifact = writing.create(
        actor=desk.member,
        draft=writing.Draft(
            "Old notes",
            "text",
            f"first {CANARIES['result of a tool']}\n"
            + KEY_BLOCK.format(body=CANARIES["private key in a result"])
            + f"\nlast {canaries.KEPT} line",
        ),
    ).artifact
    fixture = tmp_path / "answers.json"
    fixture.write_text(json.dumps({"answers": scripts(mark, artifact.id)}))
    port = free_port()
    process = subprocess.Popen(
        [
            *(sys.executable, "manage.py", "scripted_model"),
            *("--port", str(port), "--fixture", str(fixture)),
        ],
        cwd=ROOT,
        env=desk.stack.environment,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/v1/models", process)
        made = Deployment.objects.create(
            id=uuid4(),
            name=f"leaky {mark}",
            base_url=f"http://127.0.0.1:{port}/v1",
            model="scripted",
            tool_calls="native",
            enabled=True,
        )
        yield LeakyModel(port, made.id)
        made.enabled = False
        made.save()
    finally:
        process.terminate()
        process.wait()


def fetched(desk: Desk, path: str, body: bytes | None = None, **headers: str) -> str:
    """What the web process answers, whatever the status: headers and body."""
    request = urllib.request.Request(f"{desk.stack.url}{path}", data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return f"{answer.headers}{answer.read().decode()}"
    except urllib.error.HTTPError as refused:
        with refused:
            return f"{refused.headers}{refused.read().decode()}"


def knocked(desk: Desk) -> str:
    """All answers to requests that bring secrets along."""
    headers = {
        "Authorization": f"Bearer {CANARIES['header: a bearer token']}",
        "X-Api-Key": CANARIES["header: an API key"],
        "Cookie": f"sessionid={CANARIES['cookie: a session']}; "
        f"tz={CANARIES['cookie: another one']}",
    }
    signed = f"?sig={CANARIES['signed URL that is asked for']}&x=%00"
    json_headers = {**headers, "Content-Type": "application/json"}
    return "".join(
        [
            *(
                fetched(desk, path + signed, **headers)
                for path in ("/nowhere", "/api/me", "/api/nowhere", "/metrics")
            ),
            # These send people to the sign-in page, and back to where they wanted to go.
            *(fetched(desk, path, **headers) for path in ("/", "/c/1", "/account")),
            fetched(desk, f"/api/tokens{signed}", b"{", **json_headers),
            fetched(desk, f"/api/conversations{signed}", b"[]", **json_headers),
            fetched(desk, "/sign-in", b"username=alice", **headers),
        ]
    )


@pytest.mark.req("GRD-012")
def test_a_planted_secret_comes_out_nowhere(desk: Desk, leaky: LeakyModel, mark: str) -> None:
    asked = [
        desk.answered(f"{mark} {word}", deployment_id=leaky.deployment_id)
        for word in ("call", "fail", "break", "echo")
    ]
    runs = [accepted.run_id for accepted in asked]
    journal = [
        (entry.kind, entry.data, entry.private)
        for entry in Entry.objects.filter(stream_id=desk.conversation.id).order_by("position")
    ]
    log = desk.stack.log
    assert log is not None
    sinks = {
        "journal": str(journal),
        "audit": str(list(AuditEvent.objects.filter(run_id__in=runs).values())),
        "ledger": str(list(ModelCall.objects.filter(run_id__in=runs).values())),
        "prompts": leaky.requests(),
        "answers": knocked(desk),
        "log": log.read_text(errors="replace"),
    }
    assert {sink: found_in(text) for sink, text in sinks.items()} == {sink: [] for sink in sinks}
    # They were on their way: what stands in their place is the mask.
    assert sinks["journal"].count("[redacted]") >= 6
    assert sinks["prompts"].count("[redacted]") >= 4
    kinds = [kind for kind, _, _ in journal]
    assert kinds.count("tool_ended") == 3
    assert kinds.count("agent_run_failed") == 3
    assert "artifact_saved" in kinds


def test_there_are_twelve_and_the_search_finds_each() -> None:
    assert len(CANARIES) == 12
    for place, canary in CANARIES.items():
        assert found_in(f"before {canary} after") == [place]

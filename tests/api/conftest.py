"""Callers of the REST interface."""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from agents.members import tokens
from agents.members.models import Member, TokenScope


@dataclass
class Caller:
    """Somebody with a token, calling as a program would."""

    token: str
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    def send(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, **headers: str
    ) -> HttpResponse:
        """Send `body` as JSON (bytes go as they are), with the token and an idempotency key."""
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if key is not None:
            headers["Idempotency-Key"] = key
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body)
        return self.client.generic(
            method, path, raw, content_type="application/json", headers=headers
        )

    def get(self, path: str, **headers: str) -> HttpResponse:
        """Read."""
        return self.send("GET", path, **headers)

    def post(self, path: str, body: Any = None, *, key: str | None = None) -> HttpResponse:
        """Ask, under a key of its own unless one is given."""
        return self.send("POST", path, body, key=key or str(uuid.uuid4()))


@pytest.fixture
def calling() -> Callable[..., Caller]:
    """A caller for a person: `calling(alice)`, with a token that may do everything."""

    def caller(member: Member, scope: TokenScope = TokenScope.ADMIN) -> Caller:
        _, text = tokens.create(actor=member, name="tests", scope=scope, days=1)
        return Caller(text)

    return caller


@pytest.fixture
def as_alice(alice: Member, calling: Callable[..., Caller]) -> Caller:
    """Alice, calling."""
    return calling(alice)


@pytest.fixture
def as_charlie(charlie: Member, calling: Callable[..., Caller]) -> Caller:
    """Charlie, calling."""
    return calling(charlie)


@pytest.fixture
def as_ada(ada: Member, calling: Callable[..., Caller]) -> Caller:
    """An administrator, calling."""
    return calling(ada)


@pytest.fixture
def conversation(as_alice: Caller) -> str:
    """An empty conversation of alice's."""
    return as_alice.post("/api/conversations").json()["id"]


@pytest.fixture
def agent(as_alice: Caller) -> str:
    """A private agent of alice's."""
    return as_alice.post("/api/agents", {"content": {"name": "Ferry", "persona": "Help."}}).json()[
        "id"
    ]

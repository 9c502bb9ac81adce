"""People and the objects they do or do not own."""

import json
import re
import secrets
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connections
from django.http import HttpResponse
from django.test import Client
from guardian.shortcuts import assign_perm

from agents.definitions.models import Agent
from agents.members import accounts, roles, tokens
from agents.members.models import Member, TokenScope
from artifacts.models import Artifact
from tests.access import routes
from tests.access.entries import Probe
from tests.owned import one_of_each, put_away

BACKEND = "agents.members.backends.ThrottledModelBackend"


@dataclass(frozen=True)
class Person:
    """Somebody with a token and a browser session."""

    member: Member | None
    token: str = ""
    session: Client | None = None


@dataclass(frozen=True)
class Objects:
    """Objects of alice's, by the name that routes give to their ids."""

    ids: dict[str, str]

    @property
    def texts(self) -> list[bytes]:
        """What must not appear in anybody else's answers."""
        return [self.ids[name].encode() for name in self.ids if name.endswith("_id")]


@pytest.fixture(scope="module")
def everybody(django_db_setup: None, django_db_blocker: Any) -> Iterator[dict[str, Person]]:
    """The people of the matrix, really committed."""
    with django_db_blocker.unblock():
        superuser = _member("root", roles.MEMBER)
        Member.objects.filter(pk=superuser.pk).update(is_superuser=True, is_staff=True)
        inactive = _known(_member("inga", roles.MEMBER))
        Member.objects.filter(username=inactive.member.username).update(is_active=False)
        revoked = _member("rita", roles.MEMBER)
        token, text = tokens.create(actor=revoked, name="x", scope=TokenScope.ADMIN, days=1)
        tokens.revoke(actor=revoked, token_id=token.id)
        yield {
            "owner": _known(_member("alice", roles.MEMBER)),
            "reader": _known(_member("bob", roles.MEMBER)),
            "stranger": _known(_member("charlie", roles.MEMBER)),
            "staff": _known(_member("ada", roles.ADMINISTRATOR)),
            "operator": _known(_member("otto", roles.OPERATOR)),
            "superuser": _known(superuser),
            "anonymous": Person(None),
            "inactive": inactive,
            "revoked": Person(revoked, text),
        }
        connections["default"].close()


def _member(name: str, role: str) -> Member:
    return accounts.create(
        actor="system:tests",
        username=f"{name}-{secrets.token_hex(4)}",
        password="correct horse battery staple",
        role=role,
        display_name=name.capitalize(),
    )


def _known(member: Member) -> Person:
    _, text = tokens.create(actor=member, name="tests", scope=TokenScope.ADMIN, days=1)
    session = Client(raise_request_exception=False)
    session.force_login(member, BACKEND)
    return Person(member, text, session)


@pytest.fixture
def objects(committed_db: None, everybody: dict[str, Person]) -> Iterator[Objects]:
    """Fresh objects of alice's: an agent of two versions, a conversation, an artifact, a token."""
    alice, bob = everybody["owner"].member, everybody["reader"].member
    ids = one_of_each(alice)
    assign_perm("use_agent", bob, Agent.objects.get(id=ids["agent_id"]))
    assign_perm("view_shared_artifact", bob, Artifact.objects.get(id=ids["artifact_id"]))
    yield Objects(ids | {"number": "1", "other": "1"})
    put_away(ids)


@dataclass(frozen=True)
class Seen:
    """All of an answer that a caller can see, cookies and the page's own address aside."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


@pytest.fixture
def ask() -> Callable[..., Seen]:
    """Ask a route as a person: by token at the REST door, by session at the pages."""

    def asked(person: Person, route: str, method: str, probe: Probe, ids: dict[str, str]) -> Seen:
        path = routes.filled(route, ids) + probe.query
        answer = send(person, path, method, probe)
        body = b"" if answer.streaming else answer.content
        return Seen(
            answer.status_code,
            tuple(sorted(answer.headers.items())),
            re.sub(rb'(csrf[^>]{0,60}?(?:value|content)=")[^"]+', rb"\1", body),
        )

    return asked


def send(person: Person, path: str, method: str, probe: Probe) -> HttpResponse:
    """One request of a person."""
    client = Client(raise_request_exception=False)
    headers = {"Accept": probe.accept}
    if path.startswith("/api/"):
        headers["Idempotency-Key"] = str(uuid.uuid4())
        if person.token:
            headers["Authorization"] = f"Bearer {person.token}"
    elif person.session is not None:
        client = person.session
    if probe.form is not None:
        return client.post(path, probe.form, headers=headers)
    return client.generic(
        method,
        path,
        b"" if probe.body is None else _json(probe.body),
        content_type="application/json",
        headers=headers,
    )


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()

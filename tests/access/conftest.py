"""People and the objects they do or do not own."""

import json
import re
import secrets
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.db.models.functions import Now
from django.http import HttpResponse
from django.test import Client
from guardian.shortcuts import assign_perm

from agents.conversations import inputs, steers
from agents.conversations.inputs import Message
from agents.definitions import versions
from agents.definitions.models import Agent
from agents.members import accounts, roles, tokens
from agents.members.models import AccessToken, Member, TokenScope
from artifacts import writing
from artifacts.models import Artifact
from tests.access import routes
from tests.access.entries import Probe
from tests.approvals.asking import asked_about
from tools.effects.models import RunClaim

BACKEND = "agents.members.backends.ThrottledModelBackend"
CONTENT = {"name": "Ferry", "persona": "Help."}


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
    content = {**CONTENT, "name": f"Ferry {secrets.token_hex(4)}"}
    agent_id = versions.create(actor=alice, content=content).agent_id
    conversation = inputs.open_conversation(member=alice)
    worked = inputs.accept(
        member=alice,
        conversation_id=conversation.id,
        message=Message("hello", agent=str(agent_id)),
        key=str(uuid.uuid4()),
    )
    RunClaim.objects.filter(run_id=worked.run_id).update(
        state="running", fence=1, lease_until=Now() + timedelta(hours=1)
    )
    steer = steers.accept(
        member=alice,
        conversation_id=conversation.id,
        turn_id=worked.run_id,
        message="only mornings",
        key=str(uuid.uuid4()),
    )
    waiting = inputs.accept(
        member=alice,
        conversation_id=conversation.id,
        message=Message("and then?"),
        key=str(uuid.uuid4()),
    )
    artifact = writing.create(
        actor=alice,
        draft=writing.Draft("Timetable", "text", "06:40"),
        conversation_id=conversation.id,
    ).artifact_id
    token, _ = tokens.create(actor=alice, name="other", scope=TokenScope.READ, days=1)
    assign_perm("use_agent", bob, Agent.objects.get(id=agent_id))
    assign_perm("view_shared_artifact", bob, Artifact.objects.get(id=artifact))
    yield Objects(
        ids={
            "agent_id": str(agent_id),
            "conversation_id": str(conversation.id),
            "artifact_id": str(artifact),
            "approval_id": str(asked_about(alice).row.id),
            "input_id": str(waiting.input_id),
            "steer_id": str(steer.steer_id),
            "token_id": str(token.id),
            "number": "1",
            "other": "1",
        }
    )
    # Nobody works them, and a later worker must not find them.
    runs = RunClaim.objects.filter(run_id__in=[worked.run_id, waiting.run_id])
    runs.update(state="settled", settled_at=Now())
    # A person may have so many tokens at once.
    AccessToken.objects.filter(id=token.id).update(revoked_at=Now())


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

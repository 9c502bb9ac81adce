"""The same questions for what stays open: the event stream and the socket."""

import asyncio
import uuid
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.test import AsyncClient

from kaizen.asgi import application
from tests.access.conftest import Objects, Person
from tests.patience import promised

FOREIGN = ("stranger", "staff", "operator", "superuser", "reader")
NOT_SIGNED_IN = 4401
NOT_VISIBLE = 4404
RUN_S = promised(20)
SOCKET_S = promised(5)


@pytest.fixture
def run() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Run to the end in a loop of its own, so that sessions made before are seen."""

    def wait(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run(asyncio.wait_for(work, RUN_S))

    return wait


async def stream(person: Person, conversation_id: str) -> tuple[int, tuple[Any, ...], bytes]:
    """Ask for the event stream; what a caller sees of the answer."""
    headers = {"Accept": "text/event-stream"}
    if person.token:
        headers["Authorization"] = f"Bearer {person.token}"
    answer = await AsyncClient(raise_request_exception=False).get(
        f"/api/conversations/{conversation_id}/events", headers=headers
    )
    body = b"" if answer.streaming else answer.content
    return answer.status_code, tuple(sorted(answer.headers.items())), body


async def close_code(person: Person, path: str) -> int | None:
    """Open a socket with the person's token; the code it was closed with, None if it stays."""
    offered = ["kaizen.v1", *([f"bearer.{person.token}"] if person.token else [])]
    socket = ApplicationCommunicator(
        application,
        {
            "type": "websocket",
            "path": path,
            "query_string": b"",
            "headers": [(b"host", b"localhost"), (b"origin", b"http://localhost:8000")],
            "subprotocols": offered,
        },
    )
    await socket.send_input({"type": "websocket.connect"})
    try:
        while True:
            said = await socket.receive_output(timeout=SOCKET_S)
            if said["type"] == "websocket.close":
                return int(said["code"])
            if said["type"] == "websocket.send":
                return None
    finally:
        await socket.send_input({"type": "websocket.disconnect", "code": 1000})
        await socket.wait(timeout=SOCKET_S)


@pytest.mark.req("REPO-005")
def test_a_foreign_stream_looks_missing(
    everybody: dict[str, Person], objects: Objects, run: Callable[..., Any]
) -> None:
    async def ask() -> set[Any]:
        ids = (objects.ids["conversation_id"], str(uuid.uuid4()))
        answers = [await stream(everybody[who], each) for who in FOREIGN for each in ids]
        return set(answers)

    answers = run(ask())
    assert len(answers) == 1
    status, _, body = answers.pop()
    assert status == 404
    assert body == b'{"error":{"code":"not_found","message":"Not found.","fields":[]}}'


def test_without_standing_no_stream_opens(
    everybody: dict[str, Person], objects: Objects, run: Callable[..., Any]
) -> None:
    async def ask() -> set[Any]:
        ids = (objects.ids["conversation_id"], str(uuid.uuid4()))
        people = ("anonymous", "inactive", "revoked")
        return {await stream(everybody[who], each) for who in people for each in ids}

    answers = run(ask())
    assert {status for status, _, _ in answers} == {401}
    assert len(answers) == 1


def test_the_owner_gets_the_stream(
    everybody: dict[str, Person], objects: Objects, run: Callable[..., Any]
) -> None:
    status, headers, _ = run(stream(everybody["owner"], objects.ids["conversation_id"]))
    assert (status, dict(headers)["Content-Type"]) == (200, "text/event-stream")


def test_a_foreign_socket_closes_like_a_missing_one(
    everybody: dict[str, Person], objects: Objects, run: Callable[..., Any]
) -> None:
    async def ask() -> set[int | None]:
        ids = (objects.ids["conversation_id"], str(uuid.uuid4()), "0", "x" * 300, "%00")
        return {
            await close_code(everybody[who], f"/ws/conversations/{each}")
            for who in FOREIGN
            for each in ids
        }

    assert run(ask()) == {NOT_VISIBLE}


def test_without_standing_a_socket_closes(
    everybody: dict[str, Person], objects: Objects, run: Callable[..., Any]
) -> None:
    async def ask() -> set[int | None]:
        ids = (objects.ids["conversation_id"], str(uuid.uuid4()))
        people = ("anonymous", "inactive", "revoked")
        return {
            await close_code(everybody[who], f"/ws/conversations/{each}")
            for who in people
            for each in ids
        }

    assert run(ask()) == {NOT_SIGNED_IN}


def test_the_owner_gets_the_socket(
    everybody: dict[str, Person], objects: Objects, run: Callable[..., Any]
) -> None:
    path = f"/ws/conversations/{objects.ids['conversation_id']}"
    assert run(close_code(everybody["owner"], path)) is None

"""What a client may send through a socket, and what it is told."""

import asyncio
from typing import Any

import pytest

from agents.conversations.models import Input
from agents.definitions.bundling import reconcile, shipped
from agents.journal.offloading import in_database
from agents.streaming.listener import CloseCode
from tests.streaming.conftest import Scene, Server, reading


def count_inputs(scene: Scene) -> int:
    return Input.objects.filter(conversation_id=scene.conversation_id).count()


@pytest.fixture
def bundles(committed_db: None) -> None:
    for bundle in shipped():
        reconcile(bundle)


async def test_an_input_is_accepted_once_and_seen_as_a_frame(
    server: Server, scene: Scene, bundles: None
) -> None:
    async with reading(server.port, scene.conversation_id, scene.token) as alice:
        asked = {"type": "input", "idempotency_key": "k1", "kind": "message", "message": "ok"}
        reply = await alice.say(**asked)
        again = await alice.say(**asked)
        assert reply == again
        assert (reply["to"], reply["status"]) == ("k1", 202)
        assert reply["body"].keys() == {"input_id", "accepted_position", "status"}
        other = await alice.say(**{**asked, "message": "changed"})
        assert (other["status"], other["body"]["error"]["code"]) == (409, "idempotency_conflict")
        assert await in_database(count_inputs, scene) == 1
    async with reading(server.port, scene.conversation_id, scene.token) as alice:
        assert (await alice.next())["event"] == "input_accepted"


async def test_stopping_is_accepted_and_repeatable(server: Server, scene: Scene) -> None:
    async with reading(server.port, scene.conversation_id, scene.token) as alice:
        for _ in range(2):
            reply = await alice.say(type="stop", idempotency_key="s")
            assert (reply["to"], reply["status"]) == ("s", 202)


@pytest.mark.parametrize(
    ("raw", "status", "code"),
    [
        ("nonsense", 400, "bad_json"),
        ('{"type":"steer","idempotency_key":"k","message":"x"}', 422, "invalid_body"),
        ('{"type":"steer","message":"x"}', 400, "idempotency_key_required"),
        (
            '{"type":"steer","idempotency_key":"k","message":"x",'
            '"turn_id":"6f1b9a52-3d3f-4a09-9d0e-0a4f4e6f1b9a"}',
            409,
            "turn_not_live",
        ),
        ('{"type":"stop","type":"input"}', 400, "bad_json"),
        ('{"type":"input","idempotency_key":"k","message":"\\u0000"}', 400, "bad_json"),
        ('{"type":"input","idempotency_key":"k","message":"\\ud800"}', 400, "bad_json"),
        ('{"type":"input","idempotency_key":"k","x":NaN}', 400, "bad_json"),
        ("[" * 100 + "]" * 100, 400, "bad_json"),
        ("[]", 422, "invalid_body"),
        ('{"type":"other"}', 422, "invalid_body"),
        ('{"type":["stop"]}', 422, "invalid_body"),
        ('{"type":"stop","more":1}', 422, "invalid_body"),
        ('{"type":"input","kind":"message","message":"x"}', 400, "idempotency_key_required"),
        ('{"type":"input","idempotency_key":"k","kind":"message"}', 422, "invalid_body"),
        (
            '{"type":"input","idempotency_key":"k","kind":"message","message":"x","y":1}',
            422,
            "invalid_body",
        ),
        ('{"type":"input","idempotency_key":7}', 422, "invalid_body"),
    ],
)
async def test_bad_messages_are_answered_and_the_socket_stays(
    server: Server, scene: Scene, raw: str, status: int, code: str
) -> None:
    async with reading(server.port, scene.conversation_id, scene.token) as alice:
        await alice.connection.send(raw)
        reply: dict[str, Any] = await alice.next()
        assert (reply["status"], reply["body"]["error"]["code"]) == (status, code)
        await in_database(scene.notice, "still here")
        assert (await alice.next())["event"] == "notice"


async def test_a_message_over_64_kib_ends_the_socket(server: Server, scene: Scene) -> None:
    async with reading(server.port, scene.conversation_id, scene.token) as alice:
        await alice.connection.send('{"type":"input","message":"' + "x" * 65_536 + '"}')
        assert await alice.closed() == 1009


async def test_a_flood_of_messages_ends_the_socket(server: Server, scene: Scene) -> None:
    async with reading(server.port, scene.conversation_id, scene.token) as alice:
        async with asyncio.TaskGroup() as group:
            closing = group.create_task(alice.closed())
            for _ in range(200):
                await alice.connection.send("{}")
                if closing.done():
                    break
        assert closing.result() == CloseCode.TOO_FAST

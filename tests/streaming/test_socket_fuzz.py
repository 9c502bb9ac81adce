"""Any message a client can send through a socket is answered, and never with a fault."""

import asyncio
import os
import random
import secrets
from typing import Any
from uuid import uuid4

import orjson
import pytest
from websockets.exceptions import ConnectionClosed

from agents.definitions.bundling import reconcile, shipped
from agents.journal.offloading import in_database
from agents.streaming import consumers
from tests.api import bodies
from tests.streaming.conftest import RECEIVE_S, Scene, Server, reading

MESSAGES = int(os.environ.get("KAIZEN_FUZZ_REQUESTS", "600")) // 4
TYPES = (*consumers._OPERATIONS, "other", "")
KNOWN_CODES = {4401, 4404}
RIGHT = ({"type": "input", "kind": "message", "message": "Hello"}, {"type": "stop"})
FIELDS = ("kind", "message", "agent", "deployment", "documents", "replaces", "turn_id", "effort")


def message(chance: random.Random, values: Any, known: list[str]) -> bytes:
    """One message: odd as a whole, of a known type with odd fields, or with broken text."""
    pick = chance.random()
    if pick < 0.2:
        value = next(values)
    elif pick < 0.3:
        value = {**chance.choice(RIGHT), "idempotency_key": secrets.token_hex(8)}
    else:
        value = bodies.shaped(chance, FIELDS, [*known, "message", "Hello", True])
        value["type"] = chance.choice(TYPES) if chance.random() < 0.9 else next(values)
        if chance.random() < 0.8:
            value["idempotency_key"] = secrets.token_hex(8)
    text = bodies.texts(value)
    if chance.random() < 0.2:
        at = chance.randrange(len(text) + 1)
        text = text[:at] + bytes([chance.randrange(256)]) + text[at + 1 :]
    if chance.random() < 0.1:
        text = chance.choice(list(bodies.REFUSED.values()))
    return text[: consumers.MESSAGE_BYTES]


async def test_no_odd_message_makes_a_fault(
    server: Server, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_database(lambda: [reconcile(bundle) for bundle in shipped()])
    monkeypatch.setattr(consumers, "MESSAGE_BURST", 10**9)  # how fast is another test's question
    seed = int(os.environ.get("KAIZEN_FUZZ_SEED", random.SystemRandom().randrange(2**32)))
    print(f"seed {seed}, {MESSAGES} messages")
    chance, values = random.Random(seed), bodies.odd(seed)
    known = [str(scene.conversation_id), str(scene.turn_id), str(uuid4())]
    answered: dict[int, int] = {}
    sent = 0
    while sent < MESSAGES:
        async with reading(server.port, scene.conversation_id, scene.token) as alice:
            while sent < MESSAGES:
                sent += 1
                raw = message(chance, values, known)
                reply = await told(alice, raw)
                if reply is None:
                    break  # closed; what closes a socket is a code of the contract
                assert reply["status"] < 500, (seed, raw[:300], reply)
                answered[reply["status"]] = answered.get(reply["status"], 0) + 1
    assert sum(answered.get(status, 0) for status in (400, 422)) > MESSAGES / 4, answered
    assert answered.get(202, 0) > 0, answered


async def told(alice: Any, raw: bytes) -> dict[str, Any] | None:
    """The reply to a message; None when the socket was closed for it, by a known code."""
    await alice.connection.send(raw)
    async with asyncio.timeout(RECEIVE_S):
        while True:
            try:
                frame: dict[str, Any] = orjson.loads(await alice.connection.recv())
            except ConnectionClosed as end:
                closed_by = end.rcvd.code if end.rcvd else 0
                break
            if frame["event"] == "reply":
                return frame
    assert closed_by in KNOWN_CODES, (raw[:300], closed_by)
    return None

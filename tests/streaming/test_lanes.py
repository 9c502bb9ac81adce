"""The way of live text: in order, without waiting for the database or for each piece."""

import asyncio
from uuid import uuid4

import orjson
import pytest
import redis
from django.conf import settings
from django.db import connections, transaction

from agents.journal.publication import live_channel
from agents.turns.live import LivePublisher, LiveTurn
from tests.patience import until
from tests.turns.conftest import Desk, desk, desk_of  # noqa: F401  # fixtures

PIECES = 500


class Ear:
    """Everything that comes over a conversation's channel, line by line."""

    def __init__(self, conversation_id: object) -> None:
        self.messages = 0
        self.lines: list[tuple[str, dict[str, object]]] = []
        self._wanted = str(conversation_id).encode()
        self._client = redis.Redis.from_url(settings.REDIS_URL)
        self._heard = self._client.pubsub(ignore_subscribe_messages=True)

    def __enter__(self) -> "Ear":
        self._heard.subscribe(live_channel(uuid4()))
        self._heard.get_message(timeout=5)
        return self

    def __exit__(self, *_: object) -> None:
        self._heard.close()
        self._client.close()

    def listen(self) -> None:
        """Take what has come so far."""
        while message := self._heard.get_message(timeout=0.01):
            self.messages += 1
            for line in message["data"].splitlines():
                whose, letter, value = line.split(b" ", 2)
                if whose == self._wanted:
                    self.lines.append((letter.decode(), orjson.loads(value)))

    def text(self, kind: str = "text") -> str:
        """The live text of a kind so far, checked to have neither gap nor repeat."""
        self.listen()
        known = ""
        for letter, value in self.lines:
            if letter == "D" and value["kind"] == kind:
                assert value["offset"] == len(known)
                known += str(value["text"])
        return known


@pytest.mark.req("STR-009")
async def test_pieces_keep_their_order_without_a_round_trip_each() -> None:
    pieces = [f"{number} " for number in range(PIECES)]
    conversation_id = uuid4()
    publisher = LivePublisher()
    turn = LiveTurn(publisher, conversation_id, uuid4())
    with Ear(conversation_id) as ear:
        sending = asyncio.create_task(publisher.run())
        for at, piece in enumerate(pieces):
            turn.add("text", piece)  # never awaited
            if at % 50 == 49:
                await asyncio.sleep(0.005)
        await publisher.drained()
        text = await asyncio.to_thread(ear.text)
        sending.cancel()
    assert text == "".join(pieces)
    assert ear.messages < PIECES / 10


@pytest.mark.stack
@pytest.mark.req("STR-003")
@pytest.mark.parametrize(("directive", "kind"), [("think", "thinking"), ("say", "text")])
def test_live_text_does_not_wait_for_the_database(
    desk: Desk,  # noqa: F811  # the fixture
    directive: str,
    kind: str,
) -> None:
    gate = uuid4().hex
    with Ear(desk.conversation.id) as ear:
        asked = desk.ask(f"hold: {gate}\n{directive}: Seen {gate}\nsay: !\n")
        until(lambda: desk.stack.held(gate), "the model waits")
        with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
            cursor.execute("LOCK TABLE journal_entry IN ACCESS EXCLUSIVE MODE")
            desk.stack.release(gate)
            until(lambda: gate in ear.text(kind), "the text is shown live", 1.0)
    assert desk.ended(asked).kind == "agent_run_completed"


@pytest.mark.stack
@pytest.mark.req("STR-011")
def test_the_end_is_announced_after_all_live_text(desk: Desk) -> None:  # noqa: F811
    words = " ".join(f"word{number}" for number in range(200))
    with Ear(desk.conversation.id) as ear:
        asked = desk.ask(f"say: {words}\n")
        desk.ended(asked)
        until(lambda: _ended(ear), "the end is announced")
    kinds = [value["event"] for _, value in ear.lines]
    assert kinds[-1] == "agent_run_completed"
    assert ear.text() == words
    last_piece = max(at for at, kind in enumerate(kinds) if kind == "delta")
    assert last_piece < kinds.index("assistant_message")


def _ended(ear: Ear) -> bool:
    ear.listen()
    return any(value["event"] == "agent_run_completed" for _, value in ear.lines)

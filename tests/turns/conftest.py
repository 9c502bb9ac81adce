"""A desk: somebody's conversation on the running stack, and how its turns went."""

import asyncio
import json
import secrets
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
import redis
from django.conf import settings

from agents.conversations import inputs
from agents.conversations.inputs import Accepted, Message
from agents.conversations.models import Conversation
from agents.definitions import bundling
from agents.gateway import sessions
from agents.journal import replay
from agents.journal.frames import TERMINALS
from agents.journal.models import Entry
from agents.journal.publication import live_channel
from agents.members.models import Member
from agents.turns.live import LivePublisher
from tests.patience import until
from tests.stack import ANSWER_S, Stack

WAIT_S = 30.0


@dataclass
class Desk:
    """Where a member asks. Waiting is bounded; a turn that does not end fails the test."""

    member: Member
    stack: Stack
    conversation: Conversation = field(init=False)

    def __post_init__(self) -> None:
        self.conversation = inputs.open_conversation(member=self.member)

    def ask(self, text: str, **more: Any) -> Accepted:
        """Accept one message; a script in it is what the model will do."""
        return inputs.accept(
            member=self.member,
            conversation_id=self.conversation.id,
            message=Message(text, **more),
            key=secrets.token_hex(8),
        )

    def stop(self) -> list[UUID]:
        """Press Stop."""
        return inputs.stop(member=self.member, conversation_id=self.conversation.id)

    def ended(self, accepted: Accepted) -> Entry:
        """The terminal of the turn, waited for."""
        return self.seen(accepted, TERMINALS)

    def seen(self, accepted: Accepted, kinds: Iterable[str]) -> Entry:
        """The first entry of the turn that is of one of the kinds, waited for."""
        wanted, found = set(kinds), list[Entry]()

        def look() -> bool:
            found[:] = [e for e in replay.of_run(accepted.run_id) if e.kind in wanted]
            return bool(found)

        until(look, f"one of {wanted} in the turn", WAIT_S)
        return found[0]

    def answered(self, text: str, **more: Any) -> Accepted:
        """Ask and wait for the end."""
        accepted = self.ask(text, **more)
        self.ended(accepted)
        return accepted

    @contextmanager
    def listening(self) -> Iterator[Callable[[str], None]]:
        """Hear the live text of the conversation; what it gives waits until a text came by."""
        heard = bytearray()
        client = redis.Redis.from_url(settings.REDIS_URL)
        with client.pubsub(ignore_subscribe_messages=True) as live:
            live.subscribe(live_channel(self.conversation.id))
            live.get_message(timeout=ANSWER_S)  # the subscription stands

            def came(text: str) -> bool:
                while message := live.get_message(timeout=0.01):
                    heard.extend(message["data"])
                deltas = [line for line in heard.split(b"\n") if b'"event":"delta"' in line]
                return any(text.encode() in line for line in deltas)

            yield lambda text: until(lambda: came(text), f"{text} is shown live")
        client.close()

    def entries(self, accepted: Accepted) -> list[Entry]:
        """Everything journaled of the turn, private parts included."""
        return replay.of_run(accepted.run_id)

    def kinds(self, accepted: Accepted) -> list[str]:
        """The kinds of the turn's entries, in order."""
        return [entry.kind for entry in self.entries(accepted)]

    def requests(self, containing: str) -> list[dict[str, Any]]:
        """What the model was asked, oldest first, where a text occurs anywhere in it."""
        url = f"http://127.0.0.1:{self.stack.model_port}/scripted/requests"
        with urllib.request.urlopen(url, timeout=ANSWER_S) as answer:
            kept = json.load(answer)
        bodies = kept["requests"] if isinstance(kept, dict) else kept
        return [body for body in bodies if containing in json.dumps(body, ensure_ascii=False)]


@pytest.fixture
def desk_of(committed_db: None, stack: Stack) -> Callable[[Member], Desk]:
    """Make a desk for a member."""
    for bundle in bundling.shipped():
        bundling.reconcile(bundle)
    return lambda member: Desk(member, stack)


@pytest.fixture
def desk(desk_of: Callable[[Member], Desk], alice: Member) -> Desk:
    """Alice's desk."""
    return desk_of(alice)


@pytest.fixture
def alone(desk: Desk) -> Iterator[Desk]:
    """Alice's desk while nobody works turns but the test itself."""
    desk.stack.kill("worker")
    yield desk
    desk.stack.start_worker()


@pytest.fixture
async def publisher() -> AsyncIterator[LivePublisher]:
    """What a worker process has once: the way out for live text, and its clients."""
    live = LivePublisher()
    sending = asyncio.create_task(live.run())
    yield live
    sending.cancel()
    with suppress(asyncio.CancelledError):
        await sending
    await sessions.close()

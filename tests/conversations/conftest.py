"""A conversation of alice's, and how to write into it."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.conversations import inputs
from agents.conversations.inputs import Accepted, Message
from agents.conversations.models import Conversation
from agents.definitions import bundling
from agents.members.models import Member

Ask = Callable[..., Accepted]


@pytest.fixture
def shipped(alice: Member) -> None:
    """The bundled agents."""
    for bundle in bundling.shipped():
        bundling.reconcile(bundle)


@pytest.fixture
def conversation(alice: Member, shipped: None) -> Conversation:
    """An empty conversation of alice's."""
    return inputs.open_conversation(member=alice)


@pytest.fixture
def ask(alice: Member, conversation: Conversation) -> Ask:
    """Write into the conversation: `ask("Hello", key="k1")`, as alice unless told otherwise."""

    def accept(
        text: str, key: str, *, member: Member | None = None, where: Any = None, **more: Any
    ) -> Accepted:
        return inputs.accept(
            member=member or alice,
            conversation_id=where or conversation.id,
            message=Message(text, **more),
            key=key,
        )

    return accept

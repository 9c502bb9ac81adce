"""Signed-in clients and conversations made by the real operations."""

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.core.management import call_command
from django.test import Client

from agents.conversations import inputs
from agents.conversations.inputs import Message
from agents.journal.append import Draft, append
from agents.journal.frames import Kind
from agents.members.models import Member


@pytest.fixture
def agents(db: None) -> None:
    """The agents that come along."""
    call_command("reconcile_bundles", verbosity=0)


@pytest.fixture
def client_of() -> Callable[[Member], Client]:
    """A browser session of somebody."""

    def make(member: Member) -> Client:
        client = Client()
        client.force_login(member)
        return client

    return make


@pytest.fixture
def talk(agents: None) -> Callable[..., UUID]:
    """A conversation in which somebody asked and was answered: `talk(alice, "Why?", "So.")`."""

    def make(member: Member, question: str = "Why?", answer: str = "So.") -> UUID:
        conversation = inputs.open_conversation(member=member)
        exchange(member, conversation.id, question, answer)
        return UUID(str(conversation.id))

    return make


def exchange(member: Member, conversation_id: UUID, question: str, answer: str) -> None:
    """One more question with its answer, as journal entries of a run that is over."""
    accepted = inputs.accept(
        member=member,
        conversation_id=conversation_id,
        message=Message(text=question),
        key=uuid4().hex,
    )
    inputs.set_status(accepted.input_id, "completed")
    append(
        conversation_id,
        [
            Draft(Kind.AGENT_RUN_STARTED, {"agent": {"name": "Kaizen"}}),
            Draft(Kind.ASSISTANT_MESSAGE, {"text": answer, "segment": 0}),
            Draft(Kind.AGENT_RUN_COMPLETED, {}),
        ],
        run_id=accepted.run_id,
        input_id=accepted.input_id,
    )

"""Taking a run inside a test's own transaction, which no running worker can see."""

import secrets
from typing import Any
from uuid import uuid4

from agents.conversations import inputs
from agents.conversations.inputs import Accepted, Message
from agents.definitions import bundling
from agents.gateway.models import Deployment, ModelRole
from agents.members.models import Member
from agents.turns import admission
from agents.turns.admission import Admitted
from agents.turns.transcript import Transcripts


def prepare() -> None:
    """A default agent and a connected model."""
    for bundle in bundling.shipped():
        bundling.reconcile(bundle)
    deployment = Deployment.objects.create(
        id=uuid4(),
        name=f"model {secrets.token_hex(4)}",
        base_url="http://127.0.0.1:9/v1",
        model="scripted",
        enabled=True,
    )
    # Where a running stack has connected its own, that one stays: other tests ask it.
    ModelRole.objects.get_or_create(role="chat", defaults={"deployment": deployment})


def asked(member: Member, text: str = "Hello", **more: Any) -> Accepted:
    """One message in a conversation of its own."""
    return inputs.accept(
        member=member,
        conversation_id=inputs.open_conversation(member=member).id,
        message=Message(text, **more),
        key=secrets.token_hex(8),
    )


def take(accepted: Accepted, *, lease_s: float = 30) -> Admitted | None:
    """Take runs until this one comes; None when it does not come."""
    while admitted := admission.take("tests", lease_s=lease_s, transcripts=Transcripts()):
        if admitted.claim.run_id == accepted.run_id:
            return admitted
    return None


def took(accepted: Accepted, *, lease_s: float = 30) -> Admitted:
    """As `take`, for a run that must come."""
    admitted = take(accepted, lease_s=lease_s)
    assert admitted is not None
    return admitted

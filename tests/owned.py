"""One of everything a member can own, made by the operations that make them."""

import secrets
import uuid
from datetime import timedelta
from typing import Any, Final

from django.db.models.functions import Now

from agents.conversations import inputs, steers
from agents.conversations.inputs import Message
from agents.definitions import versions
from agents.members import tokens
from agents.members.models import AccessToken, Member, TokenScope
from artifacts import writing
from tests.approvals.asking import asked_about
from tools.effects.models import RunClaim

CONTENT: Final[dict[str, Any]] = {"name": "Ferry", "persona": "Help."}


def one_of_each(member: Member) -> dict[str, str]:
    """Ids by the names that routes give them: an agent of two versions, a conversation with an
    input that is worked and told something and one that waits, a question, an artifact, a token.
    """
    content = {**CONTENT, "name": f"Ferry {secrets.token_hex(4)}"}
    agent_id = versions.create(actor=member, content=content).agent_id
    conversation = inputs.open_conversation(member=member)
    worked = inputs.accept(
        member=member,
        conversation_id=conversation.id,
        message=Message("hello", agent=str(agent_id)),
        key=str(uuid.uuid4()),
    )
    RunClaim.objects.filter(run_id=worked.run_id).update(
        state="running", fence=1, lease_until=Now() + timedelta(hours=1)
    )
    steer = steers.accept(
        member=member,
        conversation_id=conversation.id,
        turn_id=worked.run_id,
        message="only mornings",
        key=str(uuid.uuid4()),
    )
    waiting = inputs.accept(
        member=member,
        conversation_id=conversation.id,
        message=Message("and then?"),
        key=str(uuid.uuid4()),
    )
    artifact = writing.create(
        actor=member,
        draft=writing.Draft("Timetable", "text", "06:40"),
        conversation_id=conversation.id,
    )
    token, _ = tokens.create(actor=member, name="other", scope=TokenScope.READ, days=1)
    return {
        "agent_id": str(agent_id),
        "conversation_id": str(conversation.id),
        "artifact_id": str(artifact.artifact_id),
        "approval_id": str(asked_about(member).row.id),
        "input_id": str(waiting.input_id),
        "steer_id": str(steer.steer_id),
        "token_id": str(token.id),
    }


def put_away(ids: dict[str, str]) -> None:
    """End what was committed: nobody works the runs, and a person may have so many tokens."""
    runs = RunClaim.objects.filter(lane=ids["conversation_id"])
    runs.update(state="settled", settled_at=Now())
    AccessToken.objects.filter(id=ids["token_id"]).update(revoked_at=Now())

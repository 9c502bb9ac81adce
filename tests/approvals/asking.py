"""Calls that wait for their member, made by the operations that stage them."""

import secrets
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, transaction

from agents.conversations import inputs
from agents.members.models import Member
from tools.boundary import approvals
from tools.boundary.approvals import Staging
from tools.boundary.contract import RunIdentity, Target
from tools.boundary.models import Approval
from tools.effects import claims
from tools.effects.claims import Claim
from tools.effects.models import RunClaim

PLAN: dict[str, Any] = {"title": "Plan", "kind": "text", "content": "08:15 ferry"}


@dataclass
class Asked:
    """A run of a member that waits, on a queue of its own that no worker looks at."""

    member: Member
    identity: RunIdentity
    queue: str
    rows: list[Approval]

    @property
    def row(self) -> Approval:
        """The first question."""
        return self.rows[0]

    def now(self, row: Approval | None = None) -> Approval:
        """A question as the database has it."""
        return Approval.objects.get(id=(row or self.row).id)

    @property
    def state(self) -> str:
        """The first question's state."""
        return self.now().state

    @property
    def claim(self) -> RunClaim:
        """The run's claim."""
        return RunClaim.objects.get(run_id=self.identity.run_id)

    def resume(self) -> RunIdentity:
        """Claim the run again, as the next worker does."""
        (claim,) = claims.claim("tests", limit=1, lease_s=60, queue=self.queue)
        self.identity = replace(self.identity, fence=claim.fence)
        return self.identity

    def lapse(self) -> None:
        """Let the time to decide be over, in the row instead of by waiting."""
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE boundary_approval SET expires_at = clock_timestamp() WHERE run_id = %s",
                [self.identity.run_id],
            )


def asked_about(
    member: Member,
    *arguments: dict[str, Any],
    conversation_id: UUID | None = None,
    watched: bool = True,
    target: Target | None = None,
) -> Asked:
    """A run that waits for its member's decision about `create_artifact` calls, by default one."""
    stream = conversation_id or inputs.open_conversation(member=member).id
    claim, queue = claimed(stream)
    identity = RunIdentity(
        run_id=claim.run_id,
        fence=claim.fence,
        member_id=member.pk,
        conversation_id=stream,
        agent_id=uuid4(),
        agent_version=1,
        watched=watched,
    )
    with transaction.atomic():
        assert claims.park(claim.run_id, claim.fence)
        rows = [
            approvals.stage(identity, staging(identity, f"call-{number}", each, target=target))
            for number, each in enumerate(arguments or (PLAN,))
        ]
    return Asked(member, identity, queue, rows)


def claimed(lane: UUID) -> tuple[Claim, str]:
    """A run that is being worked, and the queue only this test looks at."""
    run_id, queue = uuid4(), f"tests-{secrets.token_hex(6)}"
    ordinal = RunClaim.objects.filter(lane=lane).count() + 1
    claims.enqueue(run_id, lane=lane, ordinal=1_000_000 + ordinal, queue=queue)
    with connection.cursor() as cursor:  # what the conversation itself had asked is not waited for
        cursor.execute(
            "UPDATE effects_runclaim SET settled_at = now(), state = 'settled'"
            " WHERE lane = %s AND run_id <> %s AND settled_at IS NULL",
            [lane, run_id],
        )
    (claim,) = claims.claim("tests", limit=1, lease_s=60, queue=queue)
    return claim, queue


def staging(
    identity: RunIdentity,
    call_id: str,
    arguments: dict[str, Any],
    *,
    tool: str = "create_artifact",
    target: Target | None = None,
) -> Staging:
    """What is kept of a call, with its digest."""
    return Staging(
        approval_id=uuid4(),
        input_id=uuid4(),
        call_id=call_id,
        tool=tool,
        label="Save an artifact",
        effect="write",
        target=target.text if target else "",
        arguments=arguments,
        digest=approvals.digest_of(identity, tool, arguments, target),
    )

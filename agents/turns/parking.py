"""Giving a turn up until its member has decided: calls staged, questions shown, lease ended."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from agents.definitions import usable
from agents.journal import append as journal
from agents.journal import publication
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.journal.prepared import Person
from agents.turns.admission import Admitted
from tools.boundary import approvals
from tools.boundary.approvals import Staging
from tools.boundary.contract import Json, Parked
from tools.boundary.models import Approval, ApprovalState
from tools.effects import claims


def park(admitted: Admitted, parked: Sequence[Parked]) -> None:
    """Stage the calls, show what is asked and end the lease, all in one commit.

    Afterwards the caller owns the run no longer and writes nothing more. The next worker makes the
    same calls again. Where a stop has been asked for meanwhile nothing is staged: the run can be
    claimed at once and ends. Raises `LeaseLost`.
    """
    with transaction.atomic():
        if not claims.park(admitted.claim.run_id, admitted.claim.fence):
            transaction.on_commit(publication.wake_workers)
            return
        new = [call for call in parked if not call.asked]
        rows = [
            approvals.stage(admitted.identity, _staging(admitted.input_id, call)) for call in new
        ]
        journal.append(
            admitted.identity.conversation_id,
            [*_questions(admitted, new, rows), _waiting(rows)],
            run_id=admitted.claim.run_id,
            input_id=admitted.input_id,
        )
        approvals.record_requested(rows)


def _staging(input_id: UUID, parked: Parked) -> Staging:
    asked = parked.requested
    return Staging(
        approval_id=parked.approval_id,
        input_id=input_id,
        call_id=parked.call.call_id,
        tool=asked["tool"],
        label=asked["label"],
        effect=asked["effect"],
        target=asked["target"],
        arguments=asked["arguments"],
        digest=asked["digest"],
    )


def _questions(
    admitted: Admitted, calls: Sequence[Parked], rows: Sequence[Approval]
) -> list[Draft]:
    """What people see; nothing yet of calls whose member has to come first."""
    if not _is_asked(rows):
        return []
    shared: dict[str, Any] = {"runs_as": _member(admitted), "agent": _agent(admitted)}
    drafts = []
    for call, row in zip(calls, rows, strict=True):
        if row.expires_at is None:
            continue
        data = {**call.requested, **shared, "expires_at": row.expires_at.isoformat()}
        drafts.append(Draft(Kind.APPROVAL_REQUESTED, data))
    return drafts


def _is_asked(rows: Sequence[Approval]) -> bool:
    return any(row.state == ApprovalState.PENDING for row in rows)


def _waiting(rows: Sequence[Approval]) -> Draft:
    """For an approval, or first of all for a member; without new rows one is being asked."""
    what = "approval" if not rows or _is_asked(rows) else "input"
    return Draft(Kind.AGENT_RUN_WAITING, {"for": what})


def _member(admitted: Admitted) -> Json:
    return {"id": str(admitted.identity.member_id), "name": admitted.member_name}


def _agent(admitted: Admitted) -> Json:
    identity = admitted.identity
    agent = usable.by_id(Person(identity.member_id), identity.agent_id)
    return {
        "id": str(identity.agent_id),
        "name": agent.name if agent else "",
        "version": identity.agent_version,
    }

"""Calls that wait for their member, as the conversation they belong to shows them."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from django.db import transaction

from agents.journal import append as journal
from agents.journal import publication
from agents.journal.append import Draft
from agents.journal.frames import Kind
from tools.boundary import approvals
from tools.boundary.approvals import OUTCOMES
from tools.boundary.models import Approval, ApprovalState

# States whose settling is shown. A call that was staged anew is shown by its new question.
SHOWN: Final = frozenset(OUTCOMES)


def show(settled: Sequence[Approval]) -> None:
    """Journal what was settled, in the transaction that settles it, and wake the workers."""
    transaction.on_commit(publication.wake_workers)
    for row in settled:
        if row.state not in SHOWN:
            continue
        data = {
            "approval_id": str(row.id),
            "call_id": row.call_id,
            "outcome": OUTCOMES[ApprovalState(row.state)],
            "reason": row.reason,
        }
        journal.append(
            row.conversation_id,
            [Draft(Kind.APPROVAL_SETTLED, data)],
            run_id=row.run_id,
            input_id=row.input_id,
        )


def give_up(run_ids: Sequence[UUID], *, actor: str) -> None:
    """Nobody has to decide any more about calls of runs that end; their claims are locked."""
    if run_ids:
        approvals.supersede(run_ids, actor=actor, tell=show)

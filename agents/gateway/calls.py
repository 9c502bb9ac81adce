"""The ledger of model calls: exactly one row per call, whatever became of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from agents.gateway import budgets
from agents.gateway.budgets import Amount
from agents.gateway.connection import Connection
from agents.gateway.events import AttemptFailed, Completed
from agents.gateway.models import CallOutcome, ModelCall, Purpose
from agents.journal.prepared import Insertion
from audit import metrics

Ended = Completed | AttemptFailed | None


@dataclass(frozen=True, slots=True)
class CallSubject:
    """For whom and for what calls are made. `run_id` None is a call outside any turn, known by its
    `call_id` alone; otherwise `fence` is the claim's under which the run is worked.
    """

    member_id: int | None = None
    agent_id: UUID | None = None
    conversation_id: UUID | None = None
    run_id: UUID | None = None
    fence: int | None = None
    purpose: Purpose = Purpose.CHAT
    call_id: UUID | None = None

    @property
    def holder_id(self) -> UUID | None:
        """By what the holds on budgets are known."""
        return self.run_id or self.call_id


@dataclass(frozen=True, slots=True)
class ModelCallEnded:
    """One call of a turn's step. `ended` is what the stream said about it, None when the call was
    given up before it said anything.
    """

    step: int
    ended: Ended


ROW = Insertion(ModelCall)


def record(connection: Connection, subject: CallSubject, calls: Sequence[ModelCallEnded]) -> None:
    """Write the rows of calls in the caller's transaction and count them.

    One INSERT; where budgets exist the holds of the run are settled as well. Raises
    `DatabaseError` when a row cannot be written, so that work nobody can account for is not
    committed.
    """
    if not calls:
        return
    rows = [_row(connection, subject, call) for call in calls]
    if len(rows) == 1:
        ROW.add(rows[0])
    else:
        ModelCall.objects.bulk_create(rows)
    holder_id = subject.holder_id
    if connection.is_budgeted and holder_id is not None and subject.member_id is not None:
        budgets.settle(
            subject.member_id,
            holder_id=holder_id,
            fence=subject.fence,
            used=used(connection, calls),
        )
    for row in rows:
        metrics.model_call(row.outcome)


def used(connection: Connection, calls: Sequence[ModelCallEnded]) -> Amount | None:
    """What calls used together, None when a call may have used something nobody reported."""
    reports = [call.ended.usage if call.ended else None for call in calls]
    if any(
        report is None and _has_begun(call.ended)
        for report, call in zip(reports, calls, strict=True)
    ):
        return None
    known = [report for report in reports if report is not None]
    return Amount(
        tokens=sum(report.prompt_tokens + report.completion_tokens for report in known),
        money=sum(connection.prices.cost(report) for report in known),
    )


def _has_begun(ended: Ended) -> bool:
    """Whether the provider had begun to answer, as far as we know."""
    return ended is None or ended.first_token_ms is not None


def _row(connection: Connection, subject: CallSubject, call: ModelCallEnded) -> ModelCall:
    prices = connection.prices
    ended = call.ended
    cost = prices.cost(ended.usage) if ended and ended.usage else None
    return ModelCall(
        run_id=subject.run_id,
        conversation_id=subject.conversation_id,
        purpose=subject.purpose,
        step=call.step,
        member_id=subject.member_id,
        agent_id=subject.agent_id,
        deployment_id=connection.deployment_id,
        model=connection.model,
        input_price=prices.input,
        cached_price=prices.cached,
        output_price=prices.output,
        cost=cost,
        **_ending(ended),
    )


def _ending(ended: Ended) -> dict[str, Any]:
    if ended is None:
        return {"outcome": CallOutcome.CANCELLED}
    usage, failure = ended.usage, ended.failure
    fields: dict[str, Any] = {
        "outcome": CallOutcome.FAILED if failure else CallOutcome(_end(ended)),
        "attempt": ended.attempts if isinstance(ended, Completed) else ended.number,
        "first_token_ms": ended.first_token_ms,
        "duration_ms": ended.duration_ms,
    }
    if failure is not None:
        fields |= {
            "error_class": str(failure.error_class),
            "failure": str(failure.code),
            "status": failure.status,
        }
    if usage is not None:
        fields |= {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "reasoning_tokens": usage.reasoning_tokens,
            "cached_tokens": usage.cached_tokens,
        }
    return fields


def _end(ended: Completed | AttemptFailed) -> str:
    return ended.end if isinstance(ended, Completed) else "failed"

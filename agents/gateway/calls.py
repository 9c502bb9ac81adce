"""The ledger of model calls: exactly one row per call, whatever became of it."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from agents.gateway.events import AttemptFailed, Completed
from agents.gateway.models import CallOutcome, ModelCall
from audit import metrics


@dataclass(frozen=True, slots=True)
class CallSubject:
    """For whom and for what a call is made. `run_id` None is a call outside any turn."""

    deployment_id: UUID
    model: str
    run_id: UUID | None = None
    step: int = 0
    member_id: int | None = None
    agent_id: UUID | None = None


def record_call(subject: CallSubject, ended: Completed | AttemptFailed | None) -> None:
    """Write the one row of a call in the caller's transaction and count it.

    `ended` is what the stream said about the call, None when it was cancelled before it said
    anything. One INSERT. Raises `DatabaseError` when the row cannot be written, so that work
    nobody can account for is not committed.
    """
    row = ModelCall(
        run_id=subject.run_id,
        step=subject.step,
        member_id=subject.member_id,
        agent_id=subject.agent_id,
        deployment_id=subject.deployment_id,
        model=subject.model,
        **_ending(ended),
    )
    row.save()
    metrics.model_call(row.outcome)


def _ending(ended: Completed | AttemptFailed | None) -> dict[str, Any]:
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

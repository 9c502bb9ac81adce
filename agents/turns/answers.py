"""Committing what a turn produced: steps while it runs, and its one terminal."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import transaction
from django.db.models.functions import Now

from agents.conversations import inputs
from agents.conversations.models import InputStatus
from agents.engine.effects import Settle, Terminal
from agents.gateway import calls as ledger
from agents.gateway.events import AttemptFailed, Completed, Usage
from agents.journal import append as journal
from agents.journal import publication
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.turns import words
from agents.turns.admission import Admitted
from agents.turns.models import Turn
from audit import funnel, metrics
from audit.reasons import Action, Reason
from tools.effects import claims

TERMINAL_KINDS: Final = {
    Terminal.COMPLETED: (Kind.AGENT_RUN_COMPLETED, InputStatus.COMPLETED, "success"),
    Terminal.SALVAGED: (Kind.AGENT_RUN_SALVAGED, InputStatus.SALVAGED, "success"),
    Terminal.FAILED: (Kind.AGENT_RUN_FAILED, InputStatus.FAILED, "error"),
    Terminal.CANCELLED: (Kind.AGENT_RUN_CANCELLED, InputStatus.CANCELLED, "cancelled"),
}


@dataclass(frozen=True)
class ModelCallEnded:
    """One model call for the ledger; `ended` None means that the turn gave it up."""

    step: int
    ended: Completed | AttemptFailed | None


@dataclass
class Pending:
    """What a turn has produced and not committed yet."""

    drafts: list[Draft] = field(default_factory=list)
    model_calls: list[ModelCallEnded] = field(default_factory=list)

    def take(self) -> "Pending":
        """Everything pending; afterwards nothing is."""
        taken = Pending(self.drafts, self.model_calls)
        self.drafts, self.model_calls = [], []
        return taken


@dataclass
class Spent:
    """Tokens of all model calls of the turn."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, usage: Usage | None) -> None:
        """Count one call's last report."""
        if usage is not None:
            self.prompt_tokens += usage.prompt_tokens
            self.completion_tokens += usage.completion_tokens


def commit(admitted: Admitted, pending: Pending, more: Sequence[Draft] = ()) -> None:
    """Journal what is pending and `more` in one transaction that proves the fence."""
    drafts = [*pending.drafts, *more]
    with transaction.atomic():
        if drafts:
            journal.append(
                admitted.identity.conversation_id,
                drafts,
                input_id=admitted.input_id,
                claim=admitted.claim,
            )
        _record_calls(admitted, pending)


def settle(admitted: Admitted, pending: Pending, effect: Settle, spent: Spent) -> None:
    """Write the answer and the one terminal in one commit, and close the run.

    Raises `LeaseLost` when the run is no longer this worker's, having written nothing.
    """
    kind, status, outcome = TERMINAL_KINDS[effect.terminal]
    data: dict[str, Any] = {
        "reason": effect.reason or None,
        "usage": {
            "prompt_tokens": spent.prompt_tokens,
            "completion_tokens": spent.completion_tokens,
        },
    }
    if effect.reason:
        data["message"] = words.for_member(effect.reason)
    run_id = admitted.claim.run_id
    with transaction.atomic():
        journal.append(
            admitted.identity.conversation_id,
            [*pending.drafts, Draft(kind, data)],
            input_id=admitted.input_id,
            claim=admitted.claim,
        )
        Turn.objects.filter(id=run_id).update(
            terminal=str(effect.terminal), reason=effect.reason, ended_at=Now()
        )
        inputs.set_status(admitted.input_id, status)
        claims.settle(run_id, admitted.claim.fence)
        _record_calls(admitted, pending)
        funnel.record(
            action=Action.TURN_ENDED,
            actor=admitted.member_principal,
            outcome=outcome,
            reason=Reason(effect.reason) if effect.reason else None,
            subject=("agent", str(admitted.identity.agent_id)),
            run_id=run_id,
            details={
                "version": admitted.identity.agent_version,
                "digest": admitted.version_digest,
                "tokens": spent.prompt_tokens + spent.completion_tokens,
            },
        )
        transaction.on_commit(lambda: _announce_end(str(effect.terminal)), robust=True)


def _announce_end(terminal: str) -> None:
    metrics.turn_ended(terminal)
    publication.wake_workers()  # the next input of the conversation may be waiting


def _record_calls(admitted: Admitted, pending: Pending) -> None:
    connection = admitted.connection
    if connection is None:  # a refused turn asks no model
        return
    for call in pending.model_calls:
        subject = ledger.CallSubject(
            deployment_id=connection.deployment_id,
            model=connection.model,
            run_id=admitted.claim.run_id,
            step=call.step,
            member_id=admitted.identity.member_id,
            agent_id=admitted.identity.agent_id,
        )
        ledger.record_call(subject, call.ended)

"""Committing what a turn produced: steps while it runs, and its one terminal."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction

from agents.conversations import inputs
from agents.conversations.models import InputStatus
from agents.engine.effects import Settle, Terminal
from agents.gateway import budgets
from agents.gateway import calls as ledger
from agents.gateway.calls import ModelCallEnded
from agents.gateway.connection import MILLIONTHS, Connection
from agents.gateway.events import Usage
from agents.journal import append as journal
from agents.journal import publication
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.turns import steering, words
from agents.turns.admission import Admitted
from audit import funnel, metrics
from audit.reasons import Action, Reason
from tools.effects import claims
from tools.effects.claims import Claim

TERMINAL_KINDS: Final = {
    Terminal.COMPLETED: (Kind.AGENT_RUN_COMPLETED, InputStatus.COMPLETED, "success"),
    Terminal.SALVAGED: (Kind.AGENT_RUN_SALVAGED, InputStatus.SALVAGED, "success"),
    Terminal.FAILED: (Kind.AGENT_RUN_FAILED, InputStatus.FAILED, "error"),
    Terminal.CANCELLED: (Kind.AGENT_RUN_CANCELLED, InputStatus.CANCELLED, "cancelled"),
}


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
    """Tokens of all model calls of the turn; `context_tokens` is what the last one read."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    context_tokens: int = 0

    def add(self, usage: Usage | None) -> None:
        """Count one call's last report."""
        if usage is not None:
            self.prompt_tokens += usage.prompt_tokens
            self.completion_tokens += usage.completion_tokens
            self.cached_tokens += usage.cached_tokens or 0
            self.context_tokens = usage.prompt_tokens

    def report(self, connection: Connection | None) -> dict[str, Any]:
        """What a terminal says about it; `cost` is money as text, where the model has prices."""
        told: dict[str, Any] = {
            "input_tokens": self.prompt_tokens,
            "output_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
        }
        if connection is None or not self.context_tokens:
            return told
        told |= {
            "context_tokens": self.context_tokens,
            "context_window": connection.context_window,
        }
        if connection.prices.any:
            used = Usage(self.prompt_tokens, self.completion_tokens, None, self.cached_tokens)
            told["cost"] = f"{Decimal(connection.prices.cost(used)) / MILLIONTHS:f}"
        return told


def commit(
    admitted: Admitted,
    pending: Pending,
    more: Sequence[Draft] = (),
    steers: Sequence[steering.Steer] = (),
) -> None:
    """Journal what is pending, `more` and the application of `steers` in one transaction that
    proves the fence.
    """
    with transaction.atomic():
        drafts = [*pending.drafts, *more, *steering.apply(admitted.claim, steers)]
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

    Raises, having written nothing, `LeaseLost` when the run is no longer this worker's, and
    `SteersWaiting` when an ordinary end would leave unheard what the turn was told. Any other end
    rejects what waits. A turn that was asked to stop does not fail any more: it is cancelled.
    """
    run_id = admitted.claim.run_id
    is_ordinary = effect.terminal is Terminal.COMPLETED
    with transaction.atomic():
        left: list[Draft] = []
        if not is_ordinary:
            effect = _stopped_instead(admitted.claim, effect)
            left = steering.give_up(run_id, effect.reason)
        kind, status, outcome = TERMINAL_KINDS[effect.terminal]
        journal.append(
            admitted.identity.conversation_id,
            [*pending.drafts, *left, Draft(kind, _told(admitted, pending, effect, spent))],
            input_id=admitted.input_id,
            claim=admitted.claim,
        )
        _close(run_id, effect, is_ordinary=is_ordinary)
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
        terminal = str(effect.terminal)
        transaction.on_commit(lambda: _announce_end(terminal), robust=True)


def _stopped_instead(claim: Claim, effect: Settle) -> Settle:
    """The same end, or the member's stop where that came before a failure: it may be its cause."""
    if claims.prove(claim.run_id, claim.fence) and effect.terminal is Terminal.FAILED:
        return Settle(Terminal.CANCELLED, Reason.STOPPED)
    return effect


def _told(admitted: Admitted, pending: Pending, effect: Settle, spent: Spent) -> dict[str, Any]:
    """What people read of the end."""
    data: dict[str, Any] = {
        "reason": words.visible(effect.reason) if effect.reason else None,
        "usage": spent.report(admitted.connection),
    }
    if effect.reason:
        data["message"] = _message(admitted, pending, effect.reason)
    return data


# The run's claim is locked by now, so that no steer can be accepted between question and commit.
CLOSE: Final = (
    "UPDATE turns_turn SET terminal = %s, reason = %s, ended_at = statement_timestamp()"
    " WHERE id = %s"
)
NOBODY_WAITS: Final = (
    " AND NOT EXISTS (SELECT 1 FROM conversations_steer AS steer"
    " WHERE steer.run_id = turns_turn.id AND steer.state IN ('pending', 'claimed'))"
)


def _close(run_id: UUID, effect: Settle, *, is_ordinary: bool) -> None:
    """Close the turn; one that was refused before it began has no row."""
    with connection.cursor() as cursor:
        cursor.execute(
            CLOSE + NOBODY_WAITS if is_ordinary else CLOSE,
            [str(effect.terminal), effect.reason, run_id],
        )
        if is_ordinary and cursor.rowcount != 1:
            raise steering.SteersWaiting(str(run_id))


def _message(admitted: Admitted, pending: Pending, reason: str) -> str:
    """What the member reads; of a budget also when it renews, of a busy model how long it asks to
    wait, where it said so.
    """
    if reason == Reason.BUDGET_EXHAUSTED:
        full = budgets.tightest(admitted.identity.member_id)
        if full is not None:
            return full.message
    ended = pending.model_calls[-1].ended if pending.model_calls else None
    failure = ended.failure if ended is not None else None
    if reason == Reason.RATE_LIMITED and failure is not None and failure.retry_after_s is not None:
        return failure.message
    return words.for_member(reason)


def _announce_end(terminal: str) -> None:
    metrics.turn_ended(terminal)
    publication.wake_workers()  # the next input of the conversation may be waiting


def _record_calls(admitted: Admitted, pending: Pending) -> None:
    if admitted.connection is not None:  # a refused turn asks no model
        ledger.record(admitted.connection, admitted.call_subject, pending.model_calls)

"""The one way a turn's final answer passes before it is kept and shown, for every controller.

A change that failed last is told by the product; a claim to have delivered a file is held against
what was kept; then the guardrails of the end. Adapters may gather the facts differently; none has
a weaker rule.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.guardrails.chain import Guard
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.turns import delivery, failure_account
from agents.turns.actions import Actions
from audit.canonical import storable


@dataclass(frozen=True)
class Closing:
    """What a turn is about to close with. `asked` is the member's message of the turn."""

    asked: str
    actions: Actions
    guard: Guard


def normalise(answer: str, closing: Closing) -> str:
    """The final answer as it may be kept; empty when there is nothing to say."""
    last = closing.actions.last
    if last is not None and last.is_failed_write:
        text = failure_account.account(last)
    else:
        text = delivery.check(answer, asked=closing.asked, saved=closing.actions.saved).text
    return storable(closing.guard.before_settle(text))


def closed(drafts: Sequence[Draft], closing: Closing, *, step: int, segment: int) -> list[Draft]:
    """The turn's last drafts with the final answer normalised.

    The final answer is the last text among them that counts as one; where the product has
    something to say and there is none, it is added as text segment `segment` of step `step`.
    """
    position = next(
        (at for at in reversed(range(len(drafts))) if _is_answer(drafts[at])),
        None,
    )
    if position is None:
        text = normalise("", closing)
        if not text:
            return list(drafts)
        data = {"text": text, "segment": segment}
        return [*drafts, Draft(Kind.ASSISTANT_MESSAGE, data, {"step": step, "excluded": False})]
    spoken = drafts[position]
    text = normalise(spoken.data["text"], closing)
    kept = [] if not text else [replace(spoken, data={**spoken.data, "text": text})]
    return [*drafts[:position], *kept, *drafts[position + 1 :]]


def _is_answer(draft: Draft) -> bool:
    return draft.kind == Kind.ASSISTANT_MESSAGE and not (draft.private or {}).get("excluded")

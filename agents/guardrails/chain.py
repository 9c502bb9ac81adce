"""The fixed points of a turn and the guardrails at each, in order.

The host asks at every point for every controller alike; a controller neither sees a guardrail nor
can leave one out.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from agents.guardrails.builtin import budgets, citations, loops, redaction
from agents.guardrails.builtin.redaction import Messages
from agents.guardrails.facts import Facts
from agents.guardrails.inventory import Inventory
from audit.credentials import Masking

Check = Callable[[Facts], None]
Clean = Callable[[Facts, str], str]


def _redacted(_facts: Facts, text: str) -> str:
    return redaction.text(text)


# Point -> what stands there, in this order. The order is part of the contract.
BEFORE_MODEL: Final[tuple[Check, ...]] = (budgets.before_model,)
BEFORE_TOOLS: Final[tuple[Check, ...]] = (budgets.before_tools, loops.before_tools)
AFTER_MODEL: Final[tuple[Clean, ...]] = (citations.cleaned, _redacted)
BEFORE_SETTLE: Final[tuple[Clean, ...]] = (citations.cleaned, _redacted)


class Guard:
    """One run's guardrails; used by one task.

    `texts` are the member's message and every steer that may have reached the run. A worker that
    takes a run over gives the counts so far.
    """

    def __init__(
        self,
        texts: Iterable[str],
        *,
        steps: int = 0,
        rounds: int = 0,
    ) -> None:
        self.facts = Facts(
            supplied=Inventory(texts),
            requests=steps,
            steps=steps,
            rounds=rounds,
        )
        self._live = {"text": redaction.masking(), "thinking": redaction.masking()}

    def before_model(self, messages: Messages) -> Messages:
        """What may be sent; raises `Tripped` when nothing may. Counts one request."""
        for check in BEFORE_MODEL:
            check(self.facts)
        self.facts.requests += 1
        return redaction.for_model(messages)

    def live(self, kind: str, delta: str) -> str:
        """What of a delta may be shown now; the rest comes with a later one or with `ended`."""
        return self._live[kind].feed(delta)

    def ended(self, kind: str) -> str:
        """What was still held of a segment that is over."""
        return self._live[kind].flush()

    def masking(self) -> Masking:
        """Masks a text of its own that comes in pieces."""
        return redaction.masking()

    def after_model(self, text: str) -> str:
        """A step's text as it is kept and read by people."""
        return self._through(AFTER_MODEL, text)

    def answered(self, *, blank: bool) -> None:
        """A model request was answered; a blank answer is no step."""
        self.facts.steps += not blank

    def before_tools(self, batch: Sequence[tuple[str, str]]) -> None:
        """Raise `Tripped` when a batch of (tool name, arguments as JSON) may not run. Counts a
        round.
        """
        facts = self.facts
        made = tuple(f"{name} {arguments}" for name, arguments in batch)
        facts.repeats = facts.repeats + 1 if made == facts.batch else 0
        facts.batch = made
        facts.rounds += 1
        for check in BEFORE_TOOLS:
            check(facts)

    def arguments(self, made: Any) -> Any:
        """A call's arguments as they are journaled, shown, approved and run."""
        return redaction.value(made)

    def steered(self, text: str) -> None:
        """A steer reached the run, or may have."""
        self.facts.supplied.read(text)

    def retrieved(self, sources: Iterable[dict[str, Any]]) -> None:
        """A tool of this run retrieved these sources, so that they may be cited."""
        self.facts.supplied.lift(
            str(source[key]) for source in sources for key in ("id", "source_id") if key in source
        )

    def before_settle(self, answer: str) -> str:
        """The final answer as it is kept."""
        return self._through(BEFORE_SETTLE, answer)

    def _through(self, point: tuple[Clean, ...], text: str) -> str:
        for clean in point:
            text = clean(self.facts, text)
        return text

"""Calls that came before: what a committed write gave, and inputs that cannot work again. Pure.

A tool that asks for it never makes the same change twice in a run: an identical later call gets
the first result again. An input that failed for good is refused instead of run again; refusals
are error results, since raising would leave a write's outcome unknown.
"""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Final, TypeVar

from audit.limits import limit
from audit.reasons import ErrorClass, Reason
from tools.boundary.contract import (
    Json,
    RepairDirective,
    Tier,
    ToolCall,
    ToolDescriptor,
    ToolKind,
    ToolOutcome,
)
from tools.boundary.facts import CallFacts

ENTRIES = limit(
    "repeats.entries", 256, "count", "Committed calls one run remembers; the oldest goes first."
)
REFUSALS = limit(
    "repeats.refusals",
    2,
    "count",
    "Refusals of one repeated call that ask for another input; later ones ask for an answer.",
)

DONE: Final = "This exact call was made before. Its result is given again; nothing was done twice."
SAME_AS_BEFORE: Final = "The same was done before in this turn, so it was not done again."
CHANGE_INPUT: Final = (
    "This exact call failed before and would fail again, so it was not run."
    " Change the arguments, or use another tool."
)
ANSWER_NOW: Final = (
    "This exact call was refused before. Do not make it again:"
    " answer the member now from what is known."
)
NOTHING_MORE: Final = RepairDirective(retryable=False, substitutable=False)
ANOTHER_WAY: Final = RepairDirective(retryable=False, substitutable=True)

Kept = TypeVar("Kept")
Key = tuple[str, str]  # a tool's name and the digest of the exact arguments


@dataclass(frozen=True)
class Committed:
    """A successful call with its projected views, and the step that made it."""

    step_snapshot_id: str
    model_view: str
    member_view: Json


class RunLedger:
    """What one run has done and failed to do. Reading counts nothing; `observe` does."""

    def __init__(self) -> None:
        self._committed: dict[Key, Committed] = {}
        self._failed: dict[Key, str] = {}
        self._repeats: Counter[Key] = Counter()

    def peek(
        self, descriptor: ToolDescriptor, arguments_digest: str, step_snapshot_id: str
    ) -> Committed | None:
        """The committed call that an identical one from this step would only repeat.

        Calls of one step are siblings: the model did not know the first result when it made the
        second. A call of unknown step counts as a later one.
        """
        done = self._committed.get((descriptor.name, arguments_digest))
        if done is None or _siblings(done.step_snapshot_id, step_snapshot_id):
            return None
        return done

    def answer(
        self, descriptor: ToolDescriptor, arguments_digest: str, call: ToolCall
    ) -> ToolOutcome | None:
        """How a call that must not run again ends; None for a call that may run."""
        done = self.peek(descriptor, arguments_digest, call.step_snapshot_id)
        key = (descriptor.name, arguments_digest)
        insists = self._repeats[key] >= REFUSALS
        if done is not None:
            return _replayed(call, arguments_digest, done, ANSWER_NOW if insists else DONE)
        failed_in = self._failed.get(key)
        if failed_in is None or _siblings(failed_in, call.step_snapshot_id):
            return None
        return _refused(call, arguments_digest, insists=insists)

    def observe(
        self, descriptor: ToolDescriptor, facts: CallFacts, model_view: str, member_view: Json
    ) -> None:
        """Take in one settled call. Only an outcome that is literally a success commits."""
        key = (facts.tool, facts.arguments_digest)
        if facts.repeat:
            self._repeats[key] += 1
        elif facts.outcome == "success":
            if descriptor.kind is ToolKind.WRITE:
                self._failed.clear()  # something has changed, so that what failed may work now
            self._failed.pop(key, None)
            if _suppressible(descriptor):
                _keep(
                    self._committed, key, Committed(facts.step_snapshot_id, model_view, member_view)
                )
        elif facts.failed and _is_final(facts):
            _keep(self._failed, key, facts.step_snapshot_id)


def _suppressible(descriptor: ToolDescriptor) -> bool:
    return (
        descriptor.suppress_identical_repeat
        and descriptor.tier is Tier.WRITE
        and not descriptor.repeat_exempt
    )


def _is_final(facts: CallFacts) -> bool:
    """Whether the same input can only fail again, as the tool or what it ran has said."""
    if facts.failure_domain == "caller":
        return facts.repair is None or not facts.repair.retryable
    return facts.repair is not None and not facts.repair.retryable


def _siblings(one: str, other: str) -> bool:
    return one != "" and one == other


def _keep(entries: dict[Key, Kept], key: Key, value: Kept) -> None:
    """Newest last; beyond the bound the oldest goes."""
    entries.pop(key, None)
    entries[key] = value
    if len(entries) > ENTRIES:
        del entries[next(iter(entries))]


def _replayed(
    call: ToolCall, arguments_digest: str, done: Committed, instruction: str
) -> ToolOutcome:
    view = json.loads(done.model_view)
    view |= {"outcome": "success", "repeat_suppressed": True, "instruction": instruction}
    return ToolOutcome(
        call=call,
        outcome="success",
        model_view=json.dumps(view, sort_keys=True, separators=(",", ":"), ensure_ascii=False),
        member_view={**done.member_view, "message": SAME_AS_BEFORE, "repeat_suppressed": True},
        repair=NOTHING_MORE,
        arguments_digest=arguments_digest,
        repeat="suppressed",
    )


def _refused(call: ToolCall, arguments_digest: str, *, insists: bool) -> ToolOutcome:
    view = {
        "outcome": "error",
        "error_class": str(ErrorClass.TOOL_ERROR),
        "message": ANSWER_NOW if insists else CHANGE_INPUT,
        "repeat_refused": True,
        "retryable": False,
    }
    return ToolOutcome(
        call=call,
        outcome="error",
        model_view=json.dumps(view, sort_keys=True, separators=(",", ":")),
        member_view={"message": "The same call had failed before, so it was not made again."},
        error_class=ErrorClass.TOOL_ERROR,
        failure_domain="caller",
        denial=Reason.REPEAT_REFUSED,
        repair=NOTHING_MORE if insists else ANOTHER_WAY,
        arguments_digest=arguments_digest,
        repeat="refused",
    )

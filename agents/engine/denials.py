"""Which denials a model may read, and when a batch of them ends the turn. Pure.

The first readable denial of a tool name is told to the model, for three names of a turn. That is a
property of the whole batch: where a person's decision is involved or the turn was interrupted,
none of its denials is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agents.engine import bounds
from agents.engine.events import ToolSettled

READABLE: Final = frozenset({"invalid_arguments", "tool_not_offered", "policy_refused"})
BY_A_PERSON: Final = frozenset({"member_denied", "approval_expired", "approval_mismatch"})
INTERRUPTED: Final = frozenset({"batch_stopped", "run_expired"})
EXHAUSTED: Final = "denials_exhausted"


@dataclass(frozen=True)
class Account:
    """The tool names denied so far in the turn, and those whose denial was told."""

    denied: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Judgement:
    """What becomes of a batch: `readable` holds the ids of calls whose denial is told."""

    account: Account
    readable: frozenset[str]
    closes: str = ""


def judge(account: Account, results: Sequence[ToolSettled], *, parked: bool = False) -> Judgement:
    """Take a batch's results in the model's order. `parked` says that a write waits in it."""
    causes = {result.denial for result in results}
    recoverable = not parked and not causes & (BY_A_PERSON | INTERRUPTED)
    denied, told = set(account.denied), set(account.told)
    readable = set()
    for result in results:
        if result.outcome != "denied":
            continue
        first = result.tool not in denied and len(told) < bounds.READABLE_DENIALS
        denied.add(result.tool)
        if recoverable and first and result.denial in READABLE:
            told.add(result.tool)
            readable.add(result.call_id)
    lost = bool(results) and all(
        result.outcome == "denied" and result.call_id not in readable for result in results
    )
    following = Account(frozenset(denied), frozenset(told))
    return Judgement(following, frozenset(readable), EXHAUSTED if lost else "")

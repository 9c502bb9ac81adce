"""What a failure allows next, enforced. Tools state facts; only this decides what follows. Pure.

That the very same input is not run again belongs to the run's ledger of repeats.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from agents.engine.events import CallRequested, ToolSettled

SEALED: Final = "repair_exhausted"  # one answer is left, and no call
LOCKED: Final = "repeat_refused"  # another try may not change this, or not elsewhere


@dataclass(frozen=True)
class Lock:
    """A tool that may be tried again with some of its arguments as they were; `alone` says that no
    other tool may make a change instead.
    """

    fields: tuple[tuple[str, str], ...]
    alone: bool = False


@dataclass(frozen=True)
class Standing:
    """What the failures so far allow.

    `sealed` leaves one answer and no call; `locks` hold what a retry of a tool must keep.
    """

    sealed: bool = False
    locks: dict[str, Lock] = field(default_factory=dict)


def block(standing: Standing, call: CallRequested) -> str:
    """Why a call must not run; empty when it may."""
    if standing.sealed:
        return SEALED
    lock = standing.locks.get(call.name)
    if lock is not None and call.readable:
        given = dict(call.fields)
        if any(given.get(name, "") != digest for name, digest in lock.fields):
            return LOCKED
    if call.writes and any(
        lock.alone for name, lock in standing.locks.items() if name != call.name
    ):
        return LOCKED
    return ""


def follow(
    standing: Standing, calls: Sequence[CallRequested], results: Sequence[ToolSettled]
) -> Standing:
    """Take a batch: a failure's directive counts from now on, a success lifts its tool's lock."""
    requested = {call.call_id: call for call in calls}
    for result in results:
        if result.outcome == "success":
            standing = _unlocked(standing, result.tool)
        elif result.repair is not None and result.outcome in ("error", "timeout"):
            standing = _directed(standing, requested[result.call_id], result)
    return standing


def _unlocked(standing: Standing, tool: str) -> Standing:
    locks = {name: lock for name, lock in standing.locks.items() if name != tool}
    return replace(standing, locks=locks)


def _directed(standing: Standing, call: CallRequested, result: ToolSettled) -> Standing:
    repair = result.repair
    assert repair is not None, "only failures with a directive come here"
    if repair.retryable:
        given = dict(call.fields)
        kept = tuple((name, given.get(name, "")) for name in repair.locked_arguments)
        lock = Lock(kept, repair.same_tool_required and not repair.substitutable)
        return replace(standing, locks={**standing.locks, call.name: lock})
    return standing if repair.substitutable else replace(standing, sealed=True)

"""The rules of conduct of a turn's tool calls, in one value. Pure.

The host keeps it for every controller alike, so that none can do without: it asks before a batch
which calls are blocked, and after it what is told and whether the turn must close. The same
events give the same conduct, on whatever worker.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agents.engine import denials, discovery, repairs, repeated, required
from agents.engine.denials import Account
from agents.engine.events import CallRequested, ToolSettled
from agents.engine.repairs import Standing
from agents.engine.repeated import Counts


@dataclass(frozen=True)
class Conduct:
    """What the calls of a turn have come to. `owed` is the required tool until it was attempted."""

    owed: str = ""
    account: Account = field(default_factory=Account)
    standing: Standing = field(default_factory=Standing)
    failures: Counts = field(default_factory=dict)
    searches: int = 0


@dataclass(frozen=True)
class Verdict:
    """After a batch: which denials are told, and the reason code that closes the turn, if any."""

    readable: frozenset[str]
    closes: str = ""


def blocked(conduct: Conduct, calls: Sequence[CallRequested]) -> dict[str, str]:
    """The calls that must not run, each with its reason code."""
    if required.passed_over(conduct.owed, calls):
        return {call.call_id: required.BLOCKED for call in calls}
    reasons = {call.call_id: repairs.block(conduct.standing, call) for call in calls}
    return {call_id: reason for call_id, reason in reasons.items() if reason}


def follow(
    conduct: Conduct,
    calls: Sequence[CallRequested],
    results: Sequence[ToolSettled],
    *,
    parked: bool = False,
) -> tuple[Conduct, Verdict]:
    """Take a batch with all its results in the model's order. `parked` says that a call of it had
    to wait for a person.
    """
    judgement = denials.judge(conduct.account, results, parked=parked)
    failures, repeats = repeated.count(conduct.failures, results)
    searches, fruitless = discovery.count(conduct.searches, results)
    following = replace(
        conduct,
        owed=required.still_owed(conduct.owed, results),
        account=judgement.account,
        standing=repairs.follow(conduct.standing, calls, results),
        failures=failures,
        searches=searches,
    )
    ended = next((result.ends_turn for result in results if result.ends_turn), "")
    return following, Verdict(judgement.readable, ended or repeats or fruitless or judgement.closes)

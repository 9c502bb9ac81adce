"""What is kept of a settled call for the rest of its run: enough for pure policies. Pure.

The host journals these facts with the call's result, so that a worker which takes the run over
judges from the same ones.
"""

from dataclasses import asdict, dataclass
from typing import Literal

from tools.boundary.contract import Json, Outcome, RepairDirective, ToolOutcome


@dataclass(frozen=True)
class CallFacts:
    """One settled call without its content; `denial`, `error_class` and `ends_turn` may be empty.

    The other fields mean what they mean in `ToolOutcome`.
    """

    call_id: str
    tool: str
    outcome: Outcome
    arguments_digest: str = ""
    step_snapshot_id: str = ""
    denial: str = ""
    error_class: str = ""
    failure_domain: Literal["tool", "caller"] = "tool"
    repair: RepairDirective | None = None
    repeat: Literal["", "suppressed", "refused"] = ""
    discovery: bool = False
    discovered: tuple[str, ...] = ()
    ends_turn: str = ""

    @property
    def failed(self) -> bool:
        """Whether the tool ran and did not succeed."""
        return self.outcome in ("error", "timeout") and not self.denial


def of(outcome: ToolOutcome) -> CallFacts:
    """The facts of a call that just settled."""
    return CallFacts(
        call_id=outcome.call.call_id,
        tool=outcome.call.name,
        outcome=outcome.outcome,
        arguments_digest=outcome.arguments_digest,
        step_snapshot_id=outcome.call.step_snapshot_id,
        denial=str(outcome.denial or ""),
        error_class=str(outcome.error_class or ""),
        failure_domain=outcome.failure_domain,
        repair=outcome.repair,
        repeat=outcome.repeat,
        discovery=outcome.discovery,
        discovered=outcome.discovered,
        ends_turn=str(outcome.ends_turn or ""),
    )


def to_json(facts: CallFacts) -> Json:
    """What a journal keeps."""
    return asdict(facts)


def from_json(kept: Json) -> CallFacts:
    """The facts as they were; unknown keys raise `TypeError`."""
    repair = kept["repair"]
    directive = None
    if repair is not None:
        locked = tuple(repair["locked_arguments"])
        directive = RepairDirective(**{**repair, "locked_arguments": locked})
    return CallFacts(
        **{**kept, "repair": directive, "discovered": tuple(kept["discovered"])},
    )

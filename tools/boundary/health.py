"""How often each tool of a run failed by its own fault. Pure."""

from audit.limits import limit
from tools.boundary.facts import CallFacts

FAILURES = limit(
    "health.failures", 5, "count", "Failures of one tool after which its run is offered it no more."
)
INPUTS = limit(
    "health.inputs",
    2,
    "count",
    "Different inputs among those failures; one bad input says nothing about a tool.",
)


class HealthTally:
    """Failures of one run's tools. What a tool only relays for its caller is not counted.

    `withdrawn` holds the tools to offer no longer. It is replaced, never changed, because calls
    that are decided in other threads read it meanwhile.
    """

    def __init__(self) -> None:
        self.withdrawn: frozenset[str] = frozenset()
        self._failures: dict[str, list[str]] = {}

    def observe(self, facts: CallFacts) -> None:
        """Count a failure of the tool's own domain that really ran."""
        if not facts.failed or facts.failure_domain != "tool":
            return
        inputs = self._failures.setdefault(facts.tool, [])
        inputs.append(facts.arguments_digest)
        if len(inputs) >= FAILURES and len(set(inputs)) >= INPUTS:
            self.withdrawn |= {facts.tool}

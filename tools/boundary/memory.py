"""What the earlier calls of one run left behind. Lives with the run, never beyond it.

Made by the run's host; after a take-over it is fed the journaled facts in their order and then
stands where the lost worker's stood.
"""

from collections.abc import Mapping

from tools.boundary import exposure
from tools.boundary.contract import Findable, Json, ToolDescriptor
from tools.boundary.exposure import DISCOVERIES
from tools.boundary.facts import CallFacts
from tools.boundary.health import HealthTally
from tools.boundary.repeats import RunLedger


class RunMemory:
    """Settled calls, committed writes, failures and found tools of one run. For one task.

    `catalogue` is everything the run may ever be offered, in the order it was frozen.
    """

    def __init__(
        self, catalogue: Mapping[str, ToolDescriptor], *, discoveries: int = DISCOVERIES
    ) -> None:
        self.catalogue = catalogue
        self.ledger = RunLedger()
        self.health = HealthTally()
        self._discoveries = discoveries
        self._searches = 0
        self._recent: list[str] = []
        self._settled: set[str] = set()

    def observe(self, facts: CallFacts, model_view: str, member_view: Json) -> None:
        """Take in one settled call with its two views; the same call a second time is ignored."""
        if facts.call_id in self._settled:
            return
        self._settled.add(facts.call_id)
        descriptor = self.catalogue.get(facts.tool)
        if descriptor is None or facts.outcome == "denied":
            return
        self.ledger.observe(descriptor, facts, model_view, member_view)
        self.health.observe(facts)
        self._searches += facts.discovery
        self._show((*facts.discovered, facts.tool))

    def has_settled(self, call_id: str) -> bool:
        """Whether a call of this id has a result, so that another one must be refused."""
        return call_id in self._settled

    def offer(self) -> dict[str, ToolDescriptor]:
        """What the next model step is offered."""
        return exposure.step_offer(
            self.catalogue,
            recent=self._recent,
            withdrawn=self.health.withdrawn,
            may_search=self._searches < self._discoveries,
        )

    def findable(self) -> tuple[Findable, ...]:
        """The catalogue as a search may read it."""
        return tuple(
            Findable(tool.name, tool.label, tool.description, tool.intent_hints)
            for tool in self.catalogue.values()
            if not tool.discovery and tool.name not in self.health.withdrawn
        )

    def _show(self, names: tuple[str, ...]) -> None:
        """Names found or called last come first; no other name has any effect."""
        shown = [name for name in dict.fromkeys(names) if name in self.catalogue]
        self._recent = [*shown, *(name for name in self._recent if name not in shown)]

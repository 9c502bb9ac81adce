"""What one model step was offered: frozen before the request, and all its calls may use."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tools.boundary.contract import ToolDescriptor


@dataclass(frozen=True)
class StepOffer:
    """The tools of one model request. A call that came from it can run these and no other,
    however late it runs and on whatever worker.
    """

    snapshot_id: str
    tools: Mapping[str, ToolDescriptor]

    def to_json(self) -> dict[str, Any]:
        """What a journal keeps."""
        return {"id": self.snapshot_id, "offered": list(self.tools)}


def freeze(run_id: UUID, step: int, sample: str, tools: Mapping[str, ToolDescriptor]) -> StepOffer:
    """The offer of one request; `sample` tells requests of the same step apart."""
    return StepOffer(f"{run_id.hex[:12]}-{step}-{sample}", dict(tools))


def thawed(kept: Mapping[str, Any], catalogue: Mapping[str, ToolDescriptor]) -> StepOffer:
    """The offer as it was, as far as its tools still exist."""
    offered = {name: catalogue[name] for name in kept["offered"] if name in catalogue}
    return StepOffer(kept["id"], offered)

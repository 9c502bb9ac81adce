"""What the guardrails of one run know. Made by the host for the run and kept nowhere else."""

from dataclasses import dataclass, field

from agents.guardrails.inventory import Inventory
from audit.reasons import Reason


class Tripped(Exception):
    """A guardrail closes the turn; nothing further is asked or run."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


@dataclass
class Facts:
    """Counts of the run so far, and the ids its member supplied.

    `requests` counts model requests, `steps` answers that held something, `rounds` batches of
    calls. `batch` is the last batch as its calls' names and arguments, `repeats` how often it came
    in a row before.
    """

    supplied: Inventory
    requests: int = 0
    steps: int = 0
    rounds: int = 0
    batch: tuple[str, ...] = field(default=())
    repeats: int = 0

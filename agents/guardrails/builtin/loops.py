"""The same calls with the same arguments, batch after batch, are a circle, whatever they answer.

What failed is bounded far earlier, call by call; this is for calls that succeed and lead nowhere.
"""

from agents.guardrails.facts import Facts, Tripped
from audit.limits import limit
from audit.reasons import Reason

SAME_BATCHES = limit(
    "turn.same_batches", 6, "count", "How often in a row a turn may make exactly the same calls."
)


def before_tools(facts: Facts) -> None:
    """Raise `Tripped` when the batch at hand would be the next of too many equal ones."""
    if facts.repeats >= SAME_BATCHES:
        raise Tripped(Reason.TOOL_ROUND_LIMIT)

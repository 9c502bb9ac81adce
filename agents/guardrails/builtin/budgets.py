"""A turn is finite. The engine ends it at its bounds; here a controller that does not is stopped.

Wall time and silence are clocks of the host; tokens and money are metered where they are spent, in
the gateway.
"""

from typing import Final

from agents.engine import bounds
from agents.guardrails.facts import Facts, Tripped
from audit.reasons import Reason

# Every step may be asked again after a blank answer, within the engine's own bound.
REQUESTS: Final = bounds.MAX_MODEL_STEPS * (1 + bounds.EMPTY_RESPONSE_RETRIES)


def before_model(facts: Facts) -> None:
    """Raise `Tripped` when no further model request may be sent."""
    if facts.steps >= bounds.MAX_MODEL_STEPS or facts.requests >= REQUESTS:
        raise Tripped(Reason.STEP_LIMIT)


def before_tools(facts: Facts) -> None:
    """Raise `Tripped` when no further batch of calls may run."""
    if facts.rounds > bounds.MAX_TOOL_ROUNDS:
        raise Tripped(Reason.TOOL_ROUND_LIMIT)

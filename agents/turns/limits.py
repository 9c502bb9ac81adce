"""The engine's bounds, declared for people. The engine itself is pure and imports nothing."""

from agents.engine import bounds
from audit.limits import limit

MODEL_STEPS = limit(
    "turn.steps", bounds.MAX_MODEL_STEPS, "count", "Model requests one turn may make."
)
TOOL_ROUNDS = limit(
    "turn.tool_rounds", bounds.MAX_TOOL_ROUNDS, "count", "Batches of tool calls one turn may make."
)
WALL_TIME = limit(
    "turn.wall_time", bounds.WALL_SECONDS, "seconds", "Time one turn may work, waiting excluded."
)
PARALLEL_READS = limit(
    "turn.parallel_reads",
    bounds.PARALLEL_READS,
    "count",
    "Reading tool calls of one step that run side by side; writes run alone.",
)
EMPTY_RESPONSES = limit(
    "turn.empty_responses",
    bounds.EMPTY_RESPONSE_RETRIES,
    "count",
    "How often a model that answers with nothing is asked the same again.",
)

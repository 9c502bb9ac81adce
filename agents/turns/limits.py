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
REPEATED_FAILURES = limit(
    "turn.identical_failures",
    bounds.IDENTICAL_FAILURES,
    "count",
    "Failures of one tool on the same input that end a turn.",
)
FRUITLESS_SEARCHES = limit(
    "turn.fruitless_searches",
    bounds.FRUITLESS_SEARCHES,
    "count",
    "Searches for tools, with no other tool succeeding in between, that end a turn.",
)
READABLE_DENIALS = limit(
    "turn.readable_denials",
    bounds.READABLE_DENIALS,
    "count",
    "Tools of one turn whose first denial is explained to the agent.",
)
CORRECTIONS = limit(
    "turn.corrections",
    bounds.MAX_CORRECTIONS,
    "count",
    "How often an answer that runs into one of our rules is asked for again.",
)
REMINDERS = limit(
    "turn.required_reminders",
    bounds.MAX_REQUIRED_REMINDERS,
    "count",
    "How often an agent is reminded of a tool you asked for before its turn ends.",
)
CONTINUATIONS = limit(
    "turn.continuations",
    bounds.MAX_CONTINUATIONS,
    "count",
    "How often an answer is continued that was cut off before it said anything.",
)
TRUNCATIONS = limit(
    "turn.truncation_follow_ups",
    bounds.MAX_TRUNCATION_FOLLOW_UPS,
    "count",
    "How often a turn goes on after tool calls that the output limit cut off.",
)
INACTIVITY = limit(
    "turn.inactivity",
    bounds.INACTIVITY_SECONDS,
    "seconds",
    "Silence of model and tools after which a turn is given up.",
)
SETTLEMENT = limit(
    "turn.settlement",
    bounds.SETTLEMENT_SECONDS,
    "seconds",
    "Time to close what a turn left open when it was given up.",
)

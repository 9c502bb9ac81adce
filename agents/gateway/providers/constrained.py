"""Tool calls from servers that only promise JSON by schema."""

# How a tool's result is introduced to a model that has no role for it.
RESULT_PREFIX = "Result of tool "

"""How long a turn may go on. Counted here, enforced by the reducer and the host."""

from typing import Final

MAX_MODEL_STEPS: Final = 32  # model requests of one turn
MAX_TOOL_ROUNDS: Final = 24  # batches of tool calls of one turn
MAX_TRUNCATION_FOLLOW_UPS: Final = 1  # after a length stop with calls, per turn
MAX_CONTINUATIONS: Final = 1  # after a length stop before anything was said, per turn
EMPTY_RESPONSE_RETRIES: Final = 2  # of one payload; twice that in a row ends the turn
MAX_CORRECTIONS: Final = 1  # of one rule, per turn
MAX_REQUIRED_REMINDERS: Final = 1  # before a required tool that is not called ends the turn
READABLE_DENIALS: Final = 3  # tool names of one turn whose denial the model may read
IDENTICAL_FAILURES: Final = 3  # of one tool on the same input
FRUITLESS_SEARCHES: Final = 4  # for tools, with no other tool succeeding in between
WALL_SECONDS: Final = 900  # of one turn, waiting excluded
INACTIVITY_SECONDS: Final = 120  # without a sign of life from the model or a tool
SETTLEMENT_SECONDS: Final = 15  # to close what is open once inactivity ended a turn
PARALLEL_READS: Final = 4  # tool calls of one batch at once; writes run alone, in order

"""How long a turn may go on. Counted here, enforced by the reducer and the host."""

from typing import Final

MAX_MODEL_STEPS: Final = 32  # model requests of one turn
MAX_TOOL_ROUNDS: Final = 24  # batches of tool calls of one turn
MAX_TRUNCATION_FOLLOW_UPS: Final = 1  # after a length stop, per turn
EMPTY_RESPONSE_RETRIES: Final = 2  # of one payload; twice that in a row ends the turn
WALL_SECONDS: Final = 900  # of one turn, waiting excluded
PARALLEL_READS: Final = 4  # tool calls of one batch at once; writes run alone, in order

"""Which failed attempts are made again, and how long to wait before. Pure.

Only an attempt before which nothing of the answer was said is repeated; whether that is so, the
caller knows. A provider's own wish for a pause is followed up to a cap.
"""

from agents.gateway.events import ProviderFailure
from audit.limits import limit
from audit.reasons import Reason

MAX_WAIT_S = limit(
    "model.retry_wait",
    120,
    "seconds",
    "Longest pause a model provider may ask for before a request is given up.",
)
# A server that limits requests needs a breath; a line that broke is tried again soon.
FIRST_BACKOFF_S = 0.2
FIRST_LIMITED_BACKOFF_S = 0.5
LAST_BACKOFF_S = 8.0
JITTER = 0.1  # of the pause, to both sides


def wait_s(failure: ProviderFailure, *, attempt: int, retries: int, jitter: float) -> float | None:
    """Seconds to wait after the failed attempt number `attempt` (from 1), None to give up.

    `jitter` is a random number in [0, 1). Without a wish of the provider the pause doubles with
    every attempt, is shifted by up to `JITTER` and stays below `LAST_BACKOFF_S`.
    """
    if not failure.retryable or attempt > retries:
        return None
    asked = failure.retry_after_s
    if asked is not None:
        return asked if asked <= MAX_WAIT_S else None
    limited = failure.code is Reason.RATE_LIMITED
    first = FIRST_LIMITED_BACKOFF_S / (1 - JITTER) if limited else FIRST_BACKOFF_S
    step = first * float(2 ** (attempt - 1)) * (1 - JITTER + 2 * JITTER * jitter)
    return min(LAST_BACKOFF_S, step)

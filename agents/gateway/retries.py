"""Which failed attempts are made again, and how long to wait before. Pure.

Only an attempt before which nothing of the answer was said is repeated; whether that is so, the
caller knows. A provider's own wish for a pause is followed up to a cap.
"""

from agents.gateway.events import ProviderFailure
from audit.limits import limit

PROVIDER_RETRIES = limit(
    "model.retries", 2, "count", "How often a failed model request is repeated before it counts."
)
MAX_WAIT_S = limit(
    "model.retry_wait",
    120,
    "seconds",
    "Longest pause a model provider may ask for before a request is given up.",
)
FIRST_BACKOFF_S = 0.5
LAST_BACKOFF_S = 8.0


def wait_s(
    failure: ProviderFailure, *, attempt: int, retries: int = PROVIDER_RETRIES, jitter: float
) -> float | None:
    """Seconds to wait after the failed attempt number `attempt` (from 1), None to give up.

    `jitter` is a random number in [0, 1): without a wish of the provider the pause doubles with
    every attempt and is stretched by it, between `FIRST_BACKOFF_S` and `LAST_BACKOFF_S`.
    """
    if not failure.retryable or attempt > retries:
        return None
    asked = failure.retry_after_s
    if asked is not None:
        return asked if asked <= MAX_WAIT_S else None
    step = FIRST_BACKOFF_S * float(2 ** (attempt - 1))
    return min(LAST_BACKOFF_S, step * (1 + jitter))

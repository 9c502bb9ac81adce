"""How long a test waits for what is promised in seconds, since machines that test are shared."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
SLOWER = 5  # a slow machine is not a broken promise; `make bench` prints the true times
STALL_S = 5.0  # nor is one that stands still for a moment
REST_S = 0.03  # between two looks


def promised(seconds: float) -> float:
    """The seconds after which a promise counts as broken and not merely as late."""
    return seconds * SLOWER + STALL_S


def seen(look: Callable[[], Found], what: str, timeout_s: float = 20.0) -> Found:
    """As `until`, and answer what was found at that moment."""
    found: list[Found] = []

    def has_come() -> bool:
        found[:] = [look()]
        return bool(found[0])

    until(has_come, what, timeout_s)
    return found[0]


def until(true: Callable[[], object], what: str, timeout_s: float = 20.0) -> None:
    """Wait for an event, or fail saying what did not come. `timeout_s` is for an idle machine."""
    deadline = time.monotonic() + promised(timeout_s)
    while not true():
        assert time.monotonic() < deadline, f"{what}: not within {promised(timeout_s):.0f} s"
        time.sleep(REST_S)

"""The clock of one streamed answer: silence and total time, for the price of one attribute."""

import asyncio
from collections.abc import Callable

from agents.gateway.connection import Lifecycle

# After the terminal chunk only the end mark may follow; a server that holds the line open is cut.
END_GRACE_S = 5.0


class Watch:
    """Calls `cut` once when the answer is silent or long for too long; `expired` tells, and
    `fell_silent` that it had begun and time was left.

    The timer is not moved at every read: when it fires it looks how long ago the last one was.
    """

    def __init__(
        self, first_byte_s: float, lifecycle: Lifecycle, started: float, cut: Callable[[], None]
    ) -> None:
        self.expired = False
        self.fell_silent = False
        self._loop = asyncio.get_running_loop()
        self._idle_s = lifecycle.idle_s
        self._last = started
        self._silence_s = first_byte_s
        self._begun = False
        self._total_at = started + lifecycle.total_s
        self._cut = cut
        self._timer = self._loop.call_at(self._due(), self._check)

    def seen(self) -> None:
        """Something arrived, be it a comment."""
        self._last = self._loop.time()
        if not self._begun:
            self._begun = True
            self._allow(self._idle_s)

    def nearly_done(self) -> None:
        """Only the end of the body is awaited from now on."""
        self._allow(min(self._idle_s, END_GRACE_S))

    def goes_on(self) -> None:
        """More of the answer came although its end had been announced."""
        self._allow(self._idle_s)

    def stop(self) -> None:
        self._timer.cancel()

    def _allow(self, silence_s: float) -> None:
        self._silence_s = silence_s
        self._timer.cancel()
        self._timer = self._loop.call_at(self._due(), self._check)

    def _due(self) -> float:
        return min(self._last + self._silence_s, self._total_at)

    def _check(self) -> None:
        due = self._due()
        if self._loop.time() < due:
            self._timer = self._loop.call_at(due, self._check)
            return
        self.expired = True
        self.fell_silent = self._begun and due < self._total_at
        self._cut()

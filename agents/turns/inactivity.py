"""The clock of silence: a turn that shows no sign of life for too long is given up."""

import asyncio
from collections.abc import Callable

from agents.engine import bounds


class Silence:
    """Calls `end` once when nothing was seen for `allowed_s` seconds while it is watched.

    The timer is not moved at every sign: when it fires it looks how long ago the last one was.
    """

    def __init__(
        self, end: Callable[[], None], *, allowed_s: float = bounds.INACTIVITY_SECONDS
    ) -> None:
        self._end = end
        self._allowed_s = allowed_s
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None

    def seen(self) -> None:
        """The model or a tool showed a sign of life."""
        self._last = self._loop.time()

    def excused(self, seconds: float) -> None:
        """Nothing can be heard for so long: a provider asked to wait."""
        self._last = self._loop.time() + seconds

    def watch(self) -> None:
        """Begin, with full time."""
        self.seen()
        self._look()

    def rest(self) -> None:
        """Do not watch any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        now = self._loop.time()
        due = self._last + self._allowed_s
        if now < due:
            # Never further off than what is allowed: an excuse may end before its time.
            self._timer = self._loop.call_at(min(due, now + self._allowed_s), self._look)
            return
        self._timer = None
        self._end()

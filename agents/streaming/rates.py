"""How fast one connection may send."""


class Allowance:
    """A budget of messages that fills at `per_second` up to `burst`. Times are seconds of one
    monotonic clock.
    """

    def __init__(self, *, per_second: float, burst: int, now: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._left = float(burst)
        self._at = now

    def spend(self, now: float) -> bool:
        """Use one message; False when there is none left."""
        self._left = min(self._burst, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True

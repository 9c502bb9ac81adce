"""How long a test waits for what is promised in seconds, since machines that test are shared."""

SLOWER = 5  # a stalled machine is not a broken promise; `make bench` prints the true times


def promised(seconds: float) -> float:
    """The seconds after which a promise counts as broken and not merely as late."""
    return seconds * SLOWER

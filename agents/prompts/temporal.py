"""What time it is, from the server's clock, in the person's zone."""

from datetime import datetime
from zoneinfo import ZoneInfo


def block(now: datetime, time_zone: str) -> str:
    """One line with date, time and zone. `now` is aware; the zone is a known IANA name.

    Told to the minute and once for a run, so that all its steps share one beginning that a
    provider can keep.
    """
    local = now.astimezone(ZoneInfo(time_zone))
    return f"It is {local:%A, %d %B %Y, %H:%M} ({time_zone})."

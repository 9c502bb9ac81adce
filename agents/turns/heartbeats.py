"""Turn workers say that they are alive; readiness asks how long ago the newest did."""

from django.db import connection

INTERVAL_S = 5.0
FORGET_AFTER_S = 3_600.0  # rows of workers long gone


def beat(owner: str) -> None:
    """Stamp this worker as seen now."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO turns_workerheartbeat (owner, seen_at) VALUES (%s, clock_timestamp())"
            " ON CONFLICT (owner) DO UPDATE SET seen_at = clock_timestamp()",
            [owner],
        )
        cursor.execute(
            "DELETE FROM turns_workerheartbeat"
            " WHERE seen_at < clock_timestamp() - make_interval(secs => %s)",
            [FORGET_AFTER_S],
        )


def newest_age_s() -> float | None:
    """Seconds since any turn worker was seen; None when none ever was."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM clock_timestamp() - max(seen_at)) FROM turns_workerheartbeat"
        )
        (age,) = cursor.fetchone()
    return None if age is None else float(age)

"""The sign-in throttle. Rows, not cache: a restarted or emptied broker must not reset it."""

import hashlib
from datetime import timedelta

from django.db import connection

MAX_FAILURES = 10  # per name and address within the window (OWASP: lock after few, unlock by time)
WINDOW = timedelta(minutes=15)


def key(username: str, address: str) -> str:
    """One throttle key per name and address; hashed, so a mistyped password is not kept."""
    return hashlib.sha256(f"{username.casefold()}\0{address}".encode()).hexdigest()


def is_blocked(throttle_key: str) -> bool:
    """Whether the key has used up its failures in the running window."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM members_signinfailure WHERE key = %s AND count >= %s"
            " AND window_started_at > clock_timestamp() - %s",
            [throttle_key, MAX_FAILURES, WINDOW],
        )
        return cursor.fetchone() is not None


def record_failure(throttle_key: str) -> None:
    """Count one failure, in a new window when the old one has passed."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO members_signinfailure AS mine (key, count, window_started_at)
            VALUES (%(key)s, 1, clock_timestamp())
            ON CONFLICT (key) DO UPDATE SET
                count = CASE WHEN mine.window_started_at > clock_timestamp() - %(window)s
                             THEN mine.count + 1 ELSE 1 END,
                window_started_at = CASE
                    WHEN mine.window_started_at > clock_timestamp() - %(window)s
                    THEN mine.window_started_at ELSE clock_timestamp() END
            """,
            {"key": throttle_key, "window": WINDOW},
        )


def clear(throttle_key: str) -> None:
    """Forget the failures after a successful sign-in."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM members_signinfailure WHERE key = %s", [throttle_key])

"""The sign-in throttle. Rows, not cache: a restarted or emptied broker must not reset it."""

import hashlib

from django.db import connection

from audit.limits import limit

# OWASP: lock after few, unlock by time.
MAX_FAILURES = limit(
    "sign_in.failures", 10, "count", "Failed sign-ins per name and address in a quarter of an hour."
)
WINDOW_S = 15 * 60.0


def key(username: str, address: str) -> str:
    """One throttle key per name and address; hashed, so a mistyped password is not kept."""
    return hashlib.sha256(f"{username.casefold()}\0{address}".encode()).hexdigest()


def is_blocked(throttle_key: str) -> bool:
    """Whether the key has used up its failures in the running window."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM members_signinfailure WHERE key = %s AND count >= %s"
            " AND window_started_at > clock_timestamp() - make_interval(secs => %s)",
            [throttle_key, MAX_FAILURES, WINDOW_S],
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
                (count, window_started_at) = (
                    SELECT CASE WHEN is_open THEN mine.count + 1 ELSE 1 END,
                           CASE WHEN is_open THEN mine.window_started_at
                                ELSE excluded.window_started_at END
                      FROM (SELECT mine.window_started_at > excluded.window_started_at
                                   - make_interval(secs => %(window)s) AS is_open) AS test)
            """,
            {"key": throttle_key, "window": WINDOW_S},
        )


def clear(throttle_key: str) -> None:
    """Forget the failures after a successful sign-in."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM members_signinfailure WHERE key = %s", [throttle_key])

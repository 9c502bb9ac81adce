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


def admit(throttle_key: str) -> bool:
    """Count one try, in a new window when the old one has passed; False when the key has used up
    its tries.

    Counted before the password is looked at, so that many tries at once get no more than one
    after another. `clear` takes the count back.
    """
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
            RETURNING count
            """,
            {"key": throttle_key, "window": WINDOW_S},
        )
        return bool(cursor.fetchone()[0] <= MAX_FAILURES)


def clear(throttle_key: str) -> None:
    """Forget the failures after a successful sign-in."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM members_signinfailure WHERE key = %s", [throttle_key])


def forget_past() -> None:
    """Remove the counts of windows that have passed."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM members_signinfailure"
            " WHERE window_started_at < clock_timestamp() - make_interval(secs => %s)",
            [WINDOW_S],
        )

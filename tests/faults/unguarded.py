"""A turn worker whose writes prove no fence: the control of every fault test.

    python -m tests.faults.unguarded

With these workers the same faults must be reported, or the judge would acquit anybody.
"""

import os
from typing import Any

from django.core.management import execute_from_command_line

SETTLE = (
    "UPDATE effects_runclaim SET state = 'settled', settled_at = clock_timestamp(),"
    " lease_until = NULL WHERE run_id = %s"
)
HELD = "held AS (SELECT %s::uuid AS run_id, %s::bigint AS fence),"


def take_the_guard_away() -> None:
    """Every proof holds, whoever asks, and a settled run can be settled again."""
    from django.db import connection

    from agents.journal import append
    from tools.effects import claims, reservations

    def settled(run_id: Any, fence: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute(SETTLE, [run_id])

    def proven(run_id: Any, fence: int) -> bool:
        return False  # and no stop was asked for

    claims.prove = proven
    claims.renew = lambda held, lease_s: [claims.Renewal(each.run_id, False) for each in held]
    claims.settle = settled
    reservations.prove = proven
    append.HELD = HELD


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kaizen.settings")
    import django

    django.setup()
    take_the_guard_away()
    execute_from_command_line(["manage.py", "turns"])

"""What the database holds, to see whether something was changed."""

from django.db import connection

Held = dict[str, tuple[int, int]]


def held(*, without: str = "audit_%") -> Held:
    """Count and digest of every table whose name is not like `without`, as this transaction sees
    them.
    """
    found = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = current_schema()::regnamespace AND relname NOT LIKE %s",
            [without],
        )
        for (table,) in cursor.fetchall():
            cursor.execute(
                f"SELECT count(*), COALESCE(sum(hashtext(t::text)), 0) FROM {table} AS t"
            )
            found[table] = cursor.fetchone()
    return found

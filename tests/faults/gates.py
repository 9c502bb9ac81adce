"""Places in the database where one process waits until it is let go.

A gate is a trigger of the owner's that waits for a lock, for sessions of one name only. So a
process can be held at an exact statement, or at the commit, without a word in its own code.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Self

import psycopg
from django.db import connection, connections

LOCK = 4_711
KNOWN = {"dbname", "user", "password", "host", "port"}
FUNCTION = """
CREATE OR REPLACE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('application_name') = TG_ARGV[0] THEN
        PERFORM pg_advisory_xact_lock(TG_ARGV[1]::bigint);
    END IF;
    RETURN NEW;
END $$
"""


@dataclass(frozen=True)
class Gate:
    """Where to wait: at each written row of a table that fits, or at the commit behind it."""

    table: str
    fits: str = "true"
    on: str = "INSERT"
    at_commit: bool = False

    @property
    def statement(self) -> str:
        kind, moment, late = ("", "BEFORE", "")
        if self.at_commit:
            kind, moment, late = "CONSTRAINT ", "AFTER", "DEFERRABLE INITIALLY DEFERRED "
        return (
            f"CREATE {kind}TRIGGER wait_at_gate {moment} {self.on} ON {self.table} {late}"
            f"FOR EACH ROW WHEN ({self.fits}) EXECUTE FUNCTION wait_at_gate(%s, '{LOCK}')"
        )


class Shut:
    """A gate that is shut for sessions of one name."""

    def __init__(self, gate: Gate, application: str) -> None:
        self._gate = gate
        self._application = application
        self._owner = _session("owner")
        self._holder = _session("default")

    def __enter__(self) -> Self:
        self._holder.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        self._owner.execute(FUNCTION)
        # A trigger takes no parameters of the session; the name is of the harness's making.
        self._owner.execute(self._gate.statement.replace("%s", f"'{self._application}'"))
        return self

    def __exit__(self, *_: object) -> None:
        self.open()
        self._owner.execute(f"DROP TRIGGER IF EXISTS wait_at_gate ON {self._gate.table}")
        self._owner.execute("DROP FUNCTION IF EXISTS wait_at_gate()")
        self._owner.close()
        self._holder.close()

    def open(self) -> None:
        """Let everybody through, now and later."""
        self._holder.execute("SELECT pg_advisory_unlock_all()")

    def is_waited_at(self) -> bool:
        """Whether the process stands at the gate."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
                " AND application_name = %s AND wait_event = 'advisory')",
                [self._application],
            )
            return bool(cursor.fetchone()[0])


@contextmanager
def shut(gate: Gate | None, application: str) -> Iterator[Shut | None]:
    """The gate, shut; None where there is none."""
    if gate is None:
        yield None
        return
    with Shut(gate, application) as closed:
        yield closed


def end_sessions(application: str) -> int:
    """End the database sessions of a process; answers how many there were."""
    with connection.cursor() as cursor, suppress(psycopg.Error):
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = %s",
            [application],
        )
        return int(cursor.fetchone()[0])
    return 0


def _session(using: str) -> psycopg.Connection[Any]:
    wanted = {"NAME": "dbname", "USER": "user", "PASSWORD": "password"}
    wanted |= {"HOST": "host", "PORT": "port"}
    given = {**connections["default"].settings_dict}
    if using == "owner":
        given |= {name: connections["owner"].settings_dict[name] for name in ("USER", "PASSWORD")}
    options = {ours: given[name] for name, ours in wanted.items() if given[name]}
    return psycopg.connect(**options, autocommit=True)

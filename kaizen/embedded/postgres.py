"""The embedded PostgreSQL: initialise, start, shape its roles, stop. Unix socket only.

Roles: the administrator is used here alone; `kz_owner` owns the database and migrates; `kz_app`
runs the product and owns nothing.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import psycopg
from psycopg import sql

from kaizen.embedded import launching
from kaizen.embedded.addresses import DATABASE, OWNER, RUNTIME, database
from kaizen.embedded.credentials import Credentials
from kaizen.embedded.failures import StartRefused, disk_full, from_os_error, out_of_space
from kaizen.embedded.layout import Layout, own
from kaizen.embedded.programs import postgres_install

ADMIN = "kz_admin"
MAJOR_VERSION = 18
# Crash recovery of a busy database takes longer than a warm start (0.2 s) by far.
READY_TIMEOUT_S = 60.0
OLD_SERVER_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 10.0
POLL_S = 0.05
MINIMAL_ENVIRONMENT: Mapping[str, str] = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
SERVER_SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "password_encryption": "scram-sha-256",
    "log_line_prefix": "",
    # Failed statements are reported to whoever sent them; here stands what ends a session or all.
    "log_min_messages": "fatal",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


class Postgres:
    """A running server; `process` is its main process."""

    def __init__(self, layout: Layout, process: subprocess.Popen[bytes]) -> None:
        self.layout = layout
        self.process = process

    def stop(self) -> None:
        """Fast shutdown: sessions end, everything committed is on disk."""
        if self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(STOP_TIMEOUT_S)


def initialise(layout: Layout, credentials: Credentials) -> bool:
    """Make the data folder on the first call; answer whether it was made now.

    Raises StartRefused for a folder of another PostgreSQL version and for a full disk.
    """
    data = layout.postgres_data
    if data.exists():
        _refuse_other_version(data)
        return False
    draft = layout.postgres_draft
    password_file = _password_file(layout, credentials.database_admin)
    try:
        shutil.rmtree(draft, ignore_errors=True)  # left by a first start that was cut off
        own(draft, layout.account)
        code, output = launching.run(
            [
                postgres_install(layout) / "bin" / "initdb",
                f"--pgdata={draft}",
                f"--username={ADMIN}",
                f"--pwfile={password_file}",
                "--auth-local=scram-sha-256",
                "--auth-host=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C",
                # Builds differ in ICU and system locales; this provider is in all of them.
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
            ],
            environment=MINIMAL_ENVIRONMENT,
            user=_user(layout),
            folder=Path("/"),
        )
        _refuse_failed_initialisation(layout, code, output)
        draft.rename(data)
    except OSError as fault:
        raise from_os_error(fault, data) from fault
    finally:
        password_file.unlink(missing_ok=True)
    return True


def start(
    layout: Layout, credentials: Credentials, *, output: int | IO[bytes], durable: bool = True
) -> Postgres:
    """Start the server on an initialised folder and wait until it answers.

    With `durable=False` nothing is forced to disk: for a test run, whose data is thrown away.
    Raises StartRefused when an older server does not end or the new one does not come up.
    """
    _wait_for_old_server(layout)
    settings = {**SERVER_SETTINGS, "unix_socket_directories": str(layout.service_run)}
    if not durable:
        settings |= {"fsync": "off", "full_page_writes": "off"}
    server_program = postgres_install(layout) / "bin" / "postgres"
    program: list[str | Path] = [server_program, "-D", layout.postgres_data]
    for name, value in settings.items():
        program += ["-c", f"{name}={value}"]
    process = launching.start(
        program,
        environment=MINIMAL_ENVIRONMENT,
        on_parent_death=signal.SIGINT,
        user=_user(layout),
        folder=Path("/"),
        output=output,
    )
    server = Postgres(layout, process)
    deadline = time.monotonic() + READY_TIMEOUT_S
    while not _ready(layout, process.pid):
        if process.poll() is not None:
            raise _did_not_start(layout, f"exit code {process.returncode}")
        if time.monotonic() > deadline:
            server.stop()
            raise _did_not_start(layout, f"no answer within {READY_TIMEOUT_S:.0f} s")
        time.sleep(POLL_S)
    return server


def shape_roles(layout: Layout, credentials: Credentials, *, may_create_databases: bool) -> None:
    """Bring roles, passwords and the database to the state this version wants. Safe to repeat.

    `may_create_databases` lets the owner make the extra databases of a test run.
    """
    with _admin(layout, credentials, "postgres") as connection:
        _role(connection, OWNER, credentials.database_owner, createdb=may_create_databases)
        _role(connection, RUNTIME, credentials.database_runtime, createdb=False)
        name = sql.Identifier(DATABASE)
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
        if known.fetchone() is None:
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(name, sql.Identifier(OWNER))
            )
        connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(name))
        connection.execute(
            sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(name, sql.Identifier(RUNTIME))
        )
    with _admin(layout, credentials, DATABASE) as connection:
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        connection.execute(sql.SQL("ALTER SCHEMA public OWNER TO {}").format(sql.Identifier(OWNER)))


def _role(
    connection: psycopg.Connection[tuple[object, ...]], name: str, password: str, *, createdb: bool
) -> None:
    """Create or adjust a login role. The password is hashed here, so no server log can show it."""
    role = sql.Identifier(name)
    known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name])
    if known.fetchone() is None:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
    hashed = connection.pgconn.encrypt_password(password.encode(), name.encode(), b"scram-sha-256")
    connection.execute(
        sql.SQL("ALTER ROLE {} LOGIN NOSUPERUSER NOCREATEROLE {} PASSWORD {}").format(
            role,
            sql.SQL("CREATEDB" if createdb else "NOCREATEDB"),
            sql.Literal(hashed.decode()),
        )
    )


def _admin(
    layout: Layout, credentials: Credentials, name: str
) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(
        database(layout, ADMIN, credentials.database_admin, name),
        autocommit=True,
        connect_timeout=5,
    )


def _wait_for_old_server(layout: Layout) -> None:
    """A server whose supervisor was killed still needs a moment to end; ours must not meet it."""
    deadline = time.monotonic() + OLD_SERVER_TIMEOUT_S
    while (pid := _old_server(layout.postgres_data)) is not None:
        if time.monotonic() > deadline:
            raise StartRefused(
                f"Another PostgreSQL (process {pid}) still uses {layout.postgres_data}.",
                f"Stop it (kill -INT {pid}) and start again.",
            )
        time.sleep(POLL_S)


def _old_server(data: Path) -> int | None:
    """The process named in postmaster.pid while it lives and is a PostgreSQL."""
    try:
        pid = int((data / "postmaster.pid").read_text().split("\n", 1)[0])
        name = Path(f"/proc/{pid}/comm").read_text().strip()
    except (OSError, ValueError):
        return None
    return pid if name == "postgres" else None


def _ready(layout: Layout, pid: int) -> bool:
    """Whether this server says in its pid file that it takes connections."""
    try:
        lines = (layout.postgres_data / "postmaster.pid").read_text().splitlines()
    except OSError:
        return False
    return lines[:1] == [str(pid)] and [line.strip() for line in lines[7:8]] == ["ready"]


def _refuse_other_version(data: Path) -> None:
    try:
        version = (data / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        raise StartRefused(
            f"{data} is not a PostgreSQL data folder.",
            "Move it away and start again; Kaizen makes a new, empty one.",
        ) from None
    if version != str(MAJOR_VERSION):
        raise StartRefused(
            f"{data} was made by PostgreSQL {version};"
            f" this Kaizen brings PostgreSQL {MAJOR_VERSION}.",
            f"Move the data over (pg_dumpall with version {version}, loaded into a new folder),"
            " or name a server of your own in DATABASE_URL."
            " To begin with an empty database, move that folder away.",
        )


def _refuse_failed_initialisation(layout: Layout, code: int, output: str) -> None:
    if code == 0:
        return
    if out_of_space(output):
        raise disk_full(layout.state)
    raise StartRefused(
        f"PostgreSQL could not create its data folder: {_last_line(output)}",
        f"The folder is {layout.postgres_data}; `manage.py doctor` checks the usual causes.",
    )


def _did_not_start(layout: Layout, how: str) -> StartRefused:
    return StartRefused(
        f"PostgreSQL did not start on {layout.postgres_data} ({how}).",
        "Its own words stand above, marked `postgres`.",
    )


def _password_file(layout: Layout, password: str) -> Path:
    """A file for initdb, readable by the account that runs it alone; the caller removes it."""
    try:
        handle, name = tempfile.mkstemp(dir=layout.service_run)
        with os.fdopen(handle, "w") as out:
            out.write(password)
        if layout.account is not None:
            os.chown(name, layout.account.uid, layout.account.gid)
    except OSError as fault:
        raise from_os_error(fault, layout.service_run) from fault
    return Path(name)


def _user(layout: Layout) -> tuple[int, int] | None:
    return None if layout.account is None else (layout.account.uid, layout.account.gid)


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"

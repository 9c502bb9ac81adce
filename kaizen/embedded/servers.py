"""Both embedded servers of one home, one user of it at a time."""

import fcntl
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kaizen.embedded import addresses, layout, postgres, valkey
from kaizen.embedded.credentials import Credentials, load_or_create
from kaizen.embedded.failures import StartRefused, from_os_error
from kaizen.embedded.layout import Layout

Say = Callable[[str], None]
OutputFor = Callable[[str], int | IO[bytes]]


@dataclass(frozen=True)
class Needs:
    """Which servers the environment leaves to us."""

    database: bool
    broker: bool

    @property
    def anything(self) -> bool:
        return self.database or self.broker


def needs(environment: Mapping[str, str]) -> Needs:
    """What no URL names."""
    return Needs(
        database=not environment.get("DATABASE_URL", "").strip(),
        broker=not environment.get("REDIS_URL", "").strip(),
    )


class HomeLock:
    """Held while one supervisor uses a home; the kernel lets go when its process ends."""

    def __init__(self, home: Path) -> None:
        try:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as fault:
            raise from_os_error(fault, home) from fault
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._file, 32).decode().strip() or "unknown"
            os.close(self._file)
            raise StartRefused(
                f"Kaizen already runs with this home, {home} (process {holder}).",
                "Stop it first (Ctrl-C there), or set KAIZEN_HOME to another folder.",
            ) from None
        os.ftruncate(self._file, 0)
        os.write(self._file, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        os.close(self._file)


class Services:
    """The servers started for one run. Use `start`; call `stop` whatever happens."""

    def __init__(self, home: Path, needed: Needs) -> None:
        self.needed = needed
        self.layout: Layout = layout.prepare(home)
        self.credentials: Credentials = load_or_create(home)
        self.postgres: postgres.Postgres | None = None
        self.valkey: valkey.Valkey | None = None

    def start(
        self,
        *,
        say: Say,
        output_for: OutputFor,
        durable: bool = True,
        may_create_databases: bool = False,
    ) -> None:
        """Bring up what is needed; `output_for(name)` says where a server's own words go."""
        if self.needed.database:
            self._start_database(say, output_for, durable, may_create_databases)
        if self.needed.broker:
            say("starting the embedded Redis-compatible server")
            self.valkey = valkey.start(self.layout, self.credentials)

    def _start_database(
        self, say: Say, output_for: OutputFor, durable: bool, may_create_databases: bool
    ) -> None:
        if not (self.layout.postgres_data / "PG_VERSION").exists():
            say(f"creating a PostgreSQL data folder in {self.layout.state} (first start only)")
        postgres.initialise(self.layout, self.credentials)
        say("starting the embedded PostgreSQL")
        self.postgres = postgres.start(
            self.layout, self.credentials, output=output_for("postgres"), durable=durable
        )
        postgres.shape_roles(
            self.layout, self.credentials, may_create_databases=may_create_databases
        )

    def environment(self, *, owner: bool) -> dict[str, str]:
        """The URLs of what was started, only those."""
        urls = addresses.environment(self.layout, self.credentials, owner=owner)
        if not self.needed.database:
            urls.pop("DATABASE_URL")
            urls.pop("DATABASE_OWNER_URL", None)
        if not self.needed.broker:
            urls.pop("REDIS_URL")
        return urls

    def restarts(self) -> dict[str, Callable[[int], subprocess.Popen[bytes]]]:
        """How to start each running server again after it ended by itself, given its output."""
        starts = {"postgres": self._postgres_again, "valkey": self._valkey_again}
        return {name: starts[name] for name in self.processes()}

    def _postgres_again(self, output: int) -> subprocess.Popen[bytes]:
        self.postgres = postgres.start(self.layout, self.credentials, output=output)
        return self.postgres.process

    def _valkey_again(self, _output: int) -> subprocess.Popen[bytes]:
        self.valkey = valkey.start(self.layout, self.credentials)
        return self.valkey.process

    def processes(self) -> dict[str, subprocess.Popen[bytes]]:
        """Running servers by name."""
        found: dict[str, subprocess.Popen[bytes]] = {}
        if self.postgres is not None:
            found["postgres"] = self.postgres.process
        if self.valkey is not None:
            found["valkey"] = self.valkey.process
        return found

    def stop(self) -> None:
        """Broker first: nothing durable is in it."""
        if self.valkey is not None:
            self.valkey.stop()
        if self.postgres is not None:
            self.postgres.stop()

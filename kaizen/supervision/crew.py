"""Child processes of the supervisor: their output, restarts and stop. One thread, one selector."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from kaizen.embedded.failures import StartRefused
from kaizen.supervision.console import Console

# A child that ended is started again after 0.5 s, 1 s, 2 s, ... and is given up when it ended
# this often without once staying up for the steady time.
RESTART_DELAYS_S = (0.5, 1.0, 2.0, 4.0, 8.0)
STEADY_S = 60.0
STOP_GRACE_S = 8.0
POLL_S = 0.05
CHUNK_BYTES = 65_536
LINE_BYTES = 16_384

Launch = Callable[[int], subprocess.Popen[bytes]]


@dataclass
class Member:
    """One child. `launch` gets the file descriptor for its output. An `essential` child that keeps
    ending stops everything; another one is left out with words."""

    name: str
    launch: Launch
    essential: bool = True
    service: bool = False
    process: subprocess.Popen[bytes] | None = None
    pidfd: int = -1
    started_at: float = 0.0
    failures: int = 0
    restart_at: float | None = None


@dataclass
class Pipe:
    """Where a child's words arrive; kept over restarts."""

    read_end: int
    write_end: int
    rest: bytearray = field(default_factory=bytearray)


class Crew:
    """Starts members, shows their words, restarts those that end, and stops all of them."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.selector = selectors.DefaultSelector()
        self.members: dict[str, Member] = {}
        self.stop_requested = False
        self._pipes: dict[str, Pipe] = {}
        self._urgent = False
        self._wake_read, self._wake_write = os.pipe()
        for end in (self._wake_read, self._wake_write):
            os.set_blocking(end, False)
        self.selector.register(self._wake_read, selectors.EVENT_READ, self._drain_wake)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda _number, _frame: self._request_stop())

    def output_for(self, name: str) -> int:
        """The descriptor a process of that name writes to; shown line by line."""
        if name not in self._pipes:
            read_end, write_end = os.pipe()
            os.set_blocking(read_end, False)
            self._pipes[name] = Pipe(read_end, write_end)
            self.selector.register(read_end, selectors.EVENT_READ, lambda: self._show(name))
        return self._pipes[name].write_end

    def add(self, member: Member) -> None:
        """Start it and keep it up. One with a process already running is only kept up."""
        self.members[member.name] = member
        output = self.output_for(member.name)
        if member.process is None:
            member.process = member.launch(output)
        self._watch(member)

    def run_to_end(self, name: str, launch: Launch) -> int:
        """Run a process to its end while everything else goes on; answer its exit code.

        A requested stop ends it early.
        """
        process = launch(self.output_for(name))
        while process.poll() is None:
            if self.stop_requested:
                process.terminate()
            self.turn(POLL_S)
        self._show(name)
        return process.returncode

    def turn(self, wait_s: float) -> None:
        """One round: wait for something to happen, show words, start what is due again.

        Raises StartRefused when an essential member keeps ending.
        """
        now = time.monotonic()
        due = [member.restart_at for member in self.members.values() if member.restart_at]
        wait_s = max(0.0, min([wait_s, *(at - now for at in due)]))
        for key, _events in self.selector.select(wait_s):
            key.data()
        for member in self.members.values():
            if member.process is not None and member.process.poll() is not None:
                self._ended(member)
            if member.restart_at is not None and time.monotonic() >= member.restart_at:
                self._start_again(member)

    def stop(self) -> None:
        """Ask every member to end and insist after the grace. Services are left to their owner."""
        for member in self.members.values():
            member.restart_at = None
        self._end([m for m in self.members.values() if m.process is not None and not m.service])
        self.flush()

    def flush(self) -> None:
        """Show what is still in the pipes."""
        for name in self._pipes:
            self._show(name, last=True)

    def _end(self, members: list[Member]) -> None:
        running = {m.name: m.process for m in members if m.process is not None}
        for process in running.values():
            process.terminate()
        deadline = time.monotonic() + STOP_GRACE_S
        self._urgent = False
        while running and time.monotonic() < deadline and not self._urgent:
            for key, _events in self.selector.select(POLL_S):
                key.data()
            running = {n: process for n, process in running.items() if process.poll() is None}
        if running:
            self.console.say(f"ending {', '.join(running)} by force")
        for member in members:
            # Also sweeps what a member may have left in its session.
            if member.process is not None:
                _end_group(member.process, signal.SIGKILL)
                member.process.wait()
                self._forget(member)

    def _watch(self, member: Member) -> None:
        assert member.process is not None
        member.started_at = time.monotonic()
        member.restart_at = None
        with contextlib.suppress(ProcessLookupError):
            member.pidfd = os.pidfd_open(member.process.pid)
            self.selector.register(member.pidfd, selectors.EVENT_READ, lambda: None)

    def _forget(self, member: Member) -> None:
        if member.pidfd >= 0:
            self.selector.unregister(member.pidfd)
            os.close(member.pidfd)
            member.pidfd = -1
        member.process = None

    def _ended(self, member: Member) -> None:
        assert member.process is not None
        code = member.process.returncode
        _end_group(member.process, signal.SIGKILL)
        self._show(member.name)
        self._forget(member)
        if self.stop_requested:
            return
        if time.monotonic() - member.started_at > STEADY_S:
            member.failures = 0
        self._again_later(member, f"ended ({_how(code)})")

    def _again_later(self, member: Member, what: str) -> None:
        if member.failures >= len(RESTART_DELAYS_S):
            self._give_up(member, what)
            return
        delay = RESTART_DELAYS_S[member.failures]
        member.failures += 1
        member.restart_at = time.monotonic() + delay
        self.console.say(f"{member.name} {what}; starting it again in {delay:g} s")

    def _start_again(self, member: Member) -> None:
        member.restart_at = None
        try:
            member.process = member.launch(self.output_for(member.name))
        except StartRefused as refusal:
            # A server killed a moment ago may still hold what its successor needs.
            self._again_later(member, f"did not start ({refusal.what})")
            return
        self._watch(member)

    def _give_up(self, member: Member, how: str) -> None:
        what = f"{member.name} {how}, {member.failures + 1} times in a row."
        if member.essential:
            raise StartRefused(what, f"Its own words stand above, marked `{member.name}`.")
        self.console.say(f"{what} Going on without it; its words stand above.")

    def _show(self, name: str, *, last: bool = False) -> None:
        pipe = self._pipes[name]
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(pipe.read_end, CHUNK_BYTES):
                pipe.rest += chunk
                *lines, rest = bytes(pipe.rest).split(b"\n")
                pipe.rest = bytearray(rest)
                for line in lines:
                    self.console.line(name, line.decode(errors="replace").rstrip())
                if len(pipe.rest) > LINE_BYTES:
                    self.console.line(name, pipe.rest.decode(errors="replace"))
                    pipe.rest.clear()
        if last and pipe.rest:
            self.console.line(name, pipe.rest.decode(errors="replace"))
            pipe.rest.clear()

    def _drain_wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, CHUNK_BYTES)

    def _request_stop(self) -> None:
        self._urgent = self.stop_requested
        self.stop_requested = True


def _end_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Signal the whole session of a child; it leads one of its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _how(code: int) -> str:
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"

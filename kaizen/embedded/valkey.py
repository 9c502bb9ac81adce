"""The embedded Redis-compatible server: broker, doorbell and live text, on a Unix socket only."""

import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import IO

from kaizen.embedded import launching
from kaizen.embedded.credentials import Credentials
from kaizen.embedded.failures import StartRefused
from kaizen.embedded.layout import Account, Layout
from kaizen.embedded.programs import valkey_server

READY_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 5.0
POLL_S = 0.02
PING_TIMEOUT_S = 1.0


class Valkey:
    """A running server."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def stop(self) -> None:
        """Ask it to write its log and end."""
        if self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start(layout: Layout, credentials: Credentials) -> Valkey:
    """Start the server and wait until it answers. Raises StartRefused.

    Its words go to a file: its advice on kernel settings is not for a person's terminal.
    """
    layout.valkey_socket.unlink(missing_ok=True)
    account = layout.account
    with _log(layout).open("ab") as output:
        process = _launch(layout, account, output)
    assert process.stdin is not None
    try:
        process.stdin.write(_configuration(layout, credentials).encode())
        process.stdin.close()
    except BrokenPipeError:
        pass  # it ended already; the loop below says so
    server = Valkey(process)
    deadline = time.monotonic() + READY_TIMEOUT_S
    while not _answers(layout, credentials):
        if process.poll() is not None or time.monotonic() > deadline:
            server.stop()
            raise StartRefused(
                f"The embedded Redis-compatible server did not start on {layout.valkey_data}.",
                f"Its own words are in {_log(layout)}. Its data only speeds up delivery:"
                " if it is damaged, that folder may be removed.",
            )
        time.sleep(POLL_S)
    return server


def _launch(layout: Layout, account: Account | None, output: IO[bytes]) -> subprocess.Popen[bytes]:
    return launching.start(
        [valkey_server(layout), "-"],  # configuration by standard input: it holds the password
        environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        on_parent_death=signal.SIGTERM,
        user=None if account is None else (account.uid, account.gid),
        stdin=subprocess.PIPE,
        output=output,
        folder=Path("/"),
    )


def _configuration(layout: Layout, credentials: Credentials) -> str:
    return "\n".join(
        [
            "port 0",
            f'unixsocket "{layout.valkey_socket}"',
            "unixsocketperm 700",
            f"requirepass {credentials.broker}",
            f'dir "{layout.valkey_data}"',
            "appendonly yes",
            'save ""',
            # Evicting a key would drop queued work.
            "maxmemory-policy noeviction",
            "loglevel warning",
            "",
        ]
    )


def _log(layout: Layout) -> Path:
    return layout.valkey_data / "valkey.log"


def _answers(layout: Layout, credentials: Credentials) -> bool:
    """Whether it is up and has loaded its log."""
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(PING_TIMEOUT_S)
        try:
            link.connect(str(layout.valkey_socket))
            link.sendall(f"AUTH {credentials.broker}\r\nPING\r\n".encode())
            answer = b""
            while answer.count(b"\r\n") < 2:
                chunk = link.recv(256)
                if not chunk:
                    return False
                answer += chunk
        except OSError:
            return False
    return answer.endswith(b"+PONG\r\n")

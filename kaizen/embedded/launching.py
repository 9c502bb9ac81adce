"""Children that end with their parent. Every process Kaizen starts goes through here."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

TRAMPOLINE = Path(__file__).with_name("trampoline.py")
KEEP = -1


def start(
    program: Sequence[str | Path],
    *,
    environment: Mapping[str, str],
    on_parent_death: signal.Signals,
    user: tuple[int, int] | None = None,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    output: int | IO[bytes] | None = None,
    folder: Path | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, with exactly this environment.

    `on_parent_death` reaches it when the starting thread ends, however that happens; `user` is
    (uid, gid). Standard output and error go together to `output`.
    """
    uid, gid = user or (KEEP, KEEP)
    words = [os.getpid(), int(on_parent_death), uid, gid]
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(TRAMPOLINE), *map(str, words), "--", *map(str, program)],
        env=dict(environment),
        stdin=stdin,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        cwd=folder,
        pass_fds=pass_fds,
        start_new_session=True,
        umask=0o077 if user else -1,
    )


def run(
    program: Sequence[str | Path],
    *,
    environment: Mapping[str, str],
    user: tuple[int, int] | None = None,
    text: str = "",
    folder: Path | None = None,
    timeout_s: float = 120.0,
) -> tuple[int, str]:
    """Run a program to its end; answer exit code and output. Raises TimeoutExpired."""
    child = start(
        program,
        environment=environment,
        on_parent_death=signal.SIGKILL,
        user=user,
        stdin=subprocess.PIPE,
        output=subprocess.PIPE,
        folder=folder,
    )
    try:
        output, _ = child.communicate(text.encode(), timeout=timeout_s)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        raise
    return child.returncode, output.decode(errors="replace")


def can_use(uid: int, gid: int, test: str, path: Path) -> bool:
    """Whether that user may use the path (`test` is -x, -r or -w), by asking as that user."""
    code, _ = run(
        ["/usr/bin/test", test, path],
        environment={},
        user=(uid, gid),
        folder=Path("/"),
        timeout_s=10.0,
    )
    return code == 0

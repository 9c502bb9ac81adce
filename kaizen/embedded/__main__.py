"""Runs a program beside embedded services: `python -m kaizen.embedded run -- PROGRAM ...`.

Starts the servers that no URL names, without migrating anything, runs the program with their URLs
in its environment and answers with its exit code. Tests and benchmarks run this way.
"""

import argparse
import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

from kaizen.embedded.failures import StartRefused
from kaizen.embedded.servers import HomeLock, Needs, Services, needs

CHECKOUT = Path(__file__).resolve().parents[2]
HOME_FOR_RUNS = CHECKOUT / ".kaizen" / "tests"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m kaizen.embedded")
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="run a program beside embedded services")
    run.add_argument("--not-durable", action="store_true", help="do not force data to disk")
    run.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    try:
        return run_beside_services(arguments.program, durable=not arguments.not_durable)
    except StartRefused as refusal:
        print(f"kaizen: {refusal}", file=sys.stderr)
        return 1


def run_beside_services(program: list[str], *, durable: bool) -> int:
    """Run the program to its end; the answer is its exit code."""
    needed = needs(os.environ)
    environment = dict(os.environ)
    environment.setdefault("KAIZEN_PROFILE", "local")
    environment.setdefault("DJANGO_SECRET_KEY", secrets.token_urlsafe(48))
    if not needed.anything:
        return subprocess.run(program, env=environment, check=False).returncode
    home = Path(os.environ.get("KAIZEN_HOME") or HOME_FOR_RUNS).expanduser().resolve()
    environment["KAIZEN_HOME"] = str(home)
    lock = HomeLock(home)
    try:
        return _run(program, environment, home, needed, durable)
    finally:
        lock.release()


def _run(
    program: list[str], environment: dict[str, str], home: Path, needed: Needs, durable: bool
) -> int:
    def end(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    services = Services(home, needed)
    child: subprocess.Popen[bytes] | None = None
    log = home / "services.log"
    try:
        with log.open("ab") as output:
            services.start(
                say=lambda words: print(f"kaizen: {words}", file=sys.stderr),
                output_for=lambda _name: output,
                durable=durable,
                may_create_databases=True,
            )
        environment |= services.environment(owner=True)
        child = subprocess.Popen(program, env=environment)
        return child.wait()
    except KeyboardInterrupt:
        if child is not None:
            child.send_signal(signal.SIGINT)
            return child.wait()
        return 130
    except StartRefused:
        print(log.read_text(errors="replace")[-2000:], file=sys.stderr)
        raise
    finally:
        services.stop()


if __name__ == "__main__":
    sys.exit(main())

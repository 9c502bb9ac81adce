"""The order of a start, and what the person at the terminal is told."""

import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from kaizen.embedded.attaching import home_of
from kaizen.embedded.failures import StartRefused, from_os_error
from kaizen.embedded.servers import HomeLock, Services, needs
from kaizen.local_model import weights
from kaizen.supervision import program
from kaizen.supervision.console import Console
from kaizen.supervision.crew import Crew, Member
from kaizen.supervision.port import Address, address, listen
from kaizen.supervision.readiness import Readiness

READY_PATIENCE_S = 60.0
IDLE_WAIT_S = 5.0
REPORT_BYTES = 65_536


def up(environment: Mapping[str, str]) -> int:
    """Start everything, keep it up until told to stop, stop everything. Answers the exit code."""
    console = Console()
    crew = Crew(console)
    start = Start(environment, console, crew)
    try:
        start.run()
    except StartRefused as refusal:
        crew.flush()
        console.block([refusal.what, refusal.remedy])
        return 1
    except OSError as fault:
        explained = from_os_error(fault, start.home)
        console.block([explained.what, explained.remedy])
        return 1
    finally:
        start.stop()
    return 0


class Start:
    """One run of the supervisor: what it holds and must give back."""

    def __init__(self, environment: Mapping[str, str], console: Console, crew: Crew) -> None:
        self.home = home_of(environment)
        self._given = environment
        self._console = console
        self._crew = crew
        self._services: Services | None = None
        self._lock: HomeLock | None = None
        self._sign_in: list[str] = []
        self._new_passwords = False

    def run(self) -> None:
        """The whole life of the product."""
        began = time.monotonic()
        where = address(self._given)
        self._lock = HomeLock(self.home)
        listener = listen(where)
        self._services = services = Services(self.home, needs(self._given))
        self._console.say(f"home {services.layout.home}, data {services.layout.state}")
        environment = program.common(self._given, self.home, services.credentials.django)
        empty_folder(Path(environment[program.METRICS_FOLDER]))
        environment |= self._start_local_model(environment, services)
        self._start_services(services)
        environment |= services.environment(owner=True)
        if self._crew.stop_requested or not self._prepare(environment, services):
            return
        readiness = Readiness(self._crew.selector, where, _host(environment))
        for member in program.product(environment, listener.fileno()):
            self._crew.add(member)
        self._wait_until_ready(readiness)
        if not self._crew.stop_requested:
            self._tell(where, environment, began)
        while not self._crew.stop_requested:
            self._crew.turn(IDLE_WAIT_S)

    def stop(self) -> None:
        """End everything, services last; then the home is free."""
        if self._new_passwords:
            self._console.block(self._sign_in)  # shown once, so never lost to a failed start
        if self._crew.members:
            self._console.say("stopping")
        self._crew.stop()
        if self._services is not None:
            self._services.stop()
        self._crew.flush()
        if self._lock is not None:
            self._lock.release()
            self._console.say("stopped")

    def _start_services(self, services: Services) -> None:
        services.start(say=self._console.say, output_for=self._crew.output_for)
        for name, restart in services.restarts().items():
            process = services.processes()[name]
            self._crew.add(Member(name, restart, service=True, process=process))

    def _start_local_model(
        self, environment: Mapping[str, str], services: Services
    ) -> dict[str, str]:
        """Start the trial model unless another one is configured; answer what tells of it."""
        if environment.get("KAIZEN_MODEL_BASE_URL", "").strip():
            return {}
        try:
            chosen = weights.chosen(environment)
        except StartRefused as refusal:
            if environment.get("KAIZEN_LOCAL_MODEL", "").strip():
                raise
            self._console.say(f"no local model: {refusal.what} {refusal.remedy}")
            return {}
        self._console.say(f"starting the local model {chosen.name}")
        socket = services.layout.model_socket
        told = program.local_model_environment(chosen, socket, services.credentials.local_model)
        self._crew.add(program.local_model({**environment, **told}, socket))
        return told

    def _prepare(self, environment: Mapping[str, str], services: Services) -> bool:
        """Migrate, reconcile, make demo people; False when a stop was asked for meanwhile."""
        self._console.say("preparing the database")
        read_end, write_end = os.pipe()
        words = ["--report-fd", str(write_end)]
        if services.needed.database:
            words.append("--demo-people")
        launch = program.launch(program.command("prepare", *words), environment, write_end)
        try:
            code = self._crew.run_to_end("prepare", launch)
            os.set_blocking(read_end, False)
            report = _read(read_end)
        finally:
            os.close(write_end)
            os.close(read_end)
        told = json.loads(report) if report else {}
        people = told.get("people", [])
        self._sign_in = _sign_in_lines(people)
        self._new_passwords = any(person["password"] for person in people)
        if self._crew.stop_requested:
            return False
        if "refusal" in told:
            raise StartRefused(told["refusal"]["what"], told["refusal"]["remedy"])
        if code != 0:
            raise StartRefused(
                "The database could not be prepared.", "The reason stands above, marked `prepare`."
            )
        return True

    def _wait_until_ready(self, readiness: Readiness) -> None:
        patience = time.monotonic() + READY_PATIENCE_S
        warned = False
        while not readiness.ready and not self._crew.stop_requested:
            self._crew.turn(readiness.step())
            if not warned and time.monotonic() > patience:
                self._console.say(f"still not ready: {readiness.last_answer}")
                warned = True
        readiness.close()

    def _tell(self, where: Address, environment: Mapping[str, str], began: float) -> None:
        took = time.monotonic() - began
        lines = [f"Kaizen is ready at {where.url}   (started in {took:.1f} s)", ""]
        lines += self._sign_in or [
            "Sign in as a person you know. To add an administrator: manage.py createsuperuser"
        ]
        if environment.get(program.MODEL_KEY):
            lines += [
                "",
                f"Answers come from {environment['KAIZEN_MODEL_NAME']}, a small trial model.",
                "For a better one set KAIZEN_MODEL_BASE_URL, KAIZEN_MODEL_NAME and",
                "KAIZEN_MODEL_API_KEY, or name a GGUF file in KAIZEN_LOCAL_MODEL.",
            ]
        lines += ["", "Stop with Ctrl-C."]
        self._new_passwords = False
        self._console.block(lines)


def _sign_in_lines(people: list[dict[str, str]]) -> list[str]:
    """What `prepare` reports about demo people, as lines for a person."""
    shown = [person for person in people if person.get("password")]
    if not people:
        return []
    if not shown:
        names = ", ".join(person["username"] for person in people)
        return [
            f"Demo people: {names}. Their passwords were shown at the first start;",
            "to set new ones, start once with KAIZEN_DEMO_PASSWORD=... (10 characters or more).",
        ]
    lines = ["Sign in as one of the demo people (passwords are shown only now):", ""]
    return lines + [
        f"{person['username']:<8} {person['password']:<24} {person['role']}" for person in shown
    ]


def _host(environment: Mapping[str, str]) -> str:
    first = environment.get("KAIZEN_ALLOWED_HOSTS", "").split(",")[0].strip()
    return first if first and "*" not in first else "localhost"


def _read(descriptor: int) -> str:
    try:
        return os.read(descriptor, REPORT_BYTES).decode()
    except BlockingIOError:
        return ""


def empty_folder(folder: Path) -> None:
    """Counters of an earlier start are not ours."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

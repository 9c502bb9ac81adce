"""Which processes one machine runs, and what each may know.

A process gets its configuration through its environment, never on its command line, and only what
its role needs: the database owner's URL goes to the preparing process alone, the local model's
process gets no database, broker or Django key.
"""

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from kaizen.embedded import launching
from kaizen.local_model.weights import Weights
from kaizen.supervision.crew import Launch, Member

CHECKOUT = Path(__file__).resolve().parents[2]
OWNER_URL = "DATABASE_OWNER_URL"
MODEL_KEY = "KAIZEN_SECRET_LOCAL_MODEL"
# Where the processes of one machine add their counters up; the name is prometheus_client's own.
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
MODEL_PROCESS_NAMES = frozenset({"PATH", "HOME", "LANG", "LC_ALL", "TZ", "KAIZEN_LOCAL_MODEL"})


def launch(words: Sequence[str | Path], environment: Mapping[str, str], *fds: int) -> Launch:
    """How to start one of our own Python processes, with further descriptors handed on."""

    def start(output: int) -> subprocess.Popen[bytes]:
        return launching.start(
            [sys.executable, *words],
            environment=environment,
            on_parent_death=signal.SIGKILL,
            output=output,
            folder=CHECKOUT,
            pass_fds=fds,
        )

    return start


def command(name: str, *words: str) -> list[str | Path]:
    """The words of a `manage.py` command."""
    return [CHECKOUT / "manage.py", name, *words]


def product(environment: Mapping[str, str], listener_fd: int) -> list[Member]:
    """Web, turn worker and jobs, in the order they are started."""
    runtime = {name: value for name, value in environment.items() if name != OWNER_URL}
    return [
        Member("web", launch(command("web", "--fd", str(listener_fd)), runtime, listener_fd)),
        Member("turns", launch(command("turns"), runtime)),
        Member("jobs", launch(command("jobs"), runtime)),
    ]


def local_model(environment: Mapping[str, str], socket: Path) -> Member:
    """The trial model. The product goes on without it when it cannot run on this machine."""
    allowed = {n: v for n, v in environment.items() if n in MODEL_PROCESS_NAMES}
    allowed[MODEL_KEY] = environment[MODEL_KEY]
    words: list[str | Path] = ["-m", "kaizen.local_model", socket]
    return Member("model", launch(words, allowed), essential=False)


def local_model_environment(weights: Weights, socket: Path, key: str) -> dict[str, str]:
    """What tells the gateway of the trial model."""
    return {
        "KAIZEN_MODEL_BASE_URL": f"unix://{socket}",
        "KAIZEN_MODEL_NAME": weights.name,
        "KAIZEN_MODEL_TOOL_CALLS": weights.tool_calls,
        MODEL_KEY: key,
    }


def common(environment: Mapping[str, str], home: Path, django_key: str) -> dict[str, str]:
    """What every process of ours starts from."""
    shared = dict(environment)
    shared.setdefault("KAIZEN_PROFILE", "local")
    shared.setdefault("DJANGO_SETTINGS_MODULE", "kaizen.settings")
    if not shared.get("DJANGO_SECRET_KEY", "").strip():
        shared["DJANGO_SECRET_KEY"] = django_key
    shared["KAIZEN_HOME"] = str(home)
    shared["PYTHONUNBUFFERED"] = "1"
    shared[METRICS_FOLDER] = str(home / "metrics")
    return shared

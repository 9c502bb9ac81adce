"""`python -m tests.bench [MEASURE ...]`: start everything, measure, print the table."""

import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kaizen.settings")

import django

django.setup()

import uvloop  # noqa: E402  # the apps come first
from django.conf import settings  # noqa: E402
from django.db import connections  # noqa: E402

from agents.definitions.bundling import reconcile, shipped  # noqa: E402
from tests.bench import appends, library, measures  # noqa: E402
from tests.bench.measures import Figure, Ground  # noqa: E402
from tests.bench.processes import BenchStack  # noqa: E402

Answer = TypeVar("Answer")

PEOPLE: Final = 5
MEASURES: Final[dict[str, Callable[[Ground], Awaitable[list[Figure]]]]] = {
    "idle": measures.idle_memory,
    "first": measures.first_word,
    "steps": measures.tool_step,
    "rush": measures.rush,
    "appends": appends.appends,
    "bursts": measures.bursts,
    "streams": measures.many_streams,
    "history": measures.history,
    "library": library.library,
}


@contextmanager
def own_database() -> Iterator[None]:
    """A database of the bench's own beside the configured one, gone afterwards."""
    owner, runtime = connections["owner"], connections["default"]
    original = runtime.settings_dict["NAME"]
    runtime.settings_dict["NAME"] = owner.creation.create_test_db(
        verbosity=0, autoclobber=True, serialize=False
    )
    try:
        yield
    finally:
        runtime.close()
        runtime.close_pool()
        runtime.settings_dict["NAME"] = original
        owner.creation.destroy_test_db(original, verbosity=0)


async def measure(ground: Ground, names: list[str]) -> None:
    print(f"{'figure':<38}{'ours':>14}{'relay':>28}{'ratio':>26}  goal")
    await measures.warm_up(ground)
    for name in names:
        for figure in await MEASURES[name](ground):
            verdict = {True: "met", False: "MISSED", None: ""}[figure.good]
            print(
                f"{figure.name:<38}{figure.ours:>14}{figure.relay:>28}{figure.ratio:>26}"
                f"  {figure.goal} {verdict}",
                flush=True,
            )


def with_ground(work: Callable[[Ground], Coroutine[Any, Any, Answer]]) -> Answer:
    """Start everything on a database of its own, run the work, stop everything."""
    with own_database():
        for bundle in shipped():
            reconcile(bundle)
        stack = BenchStack.for_database(
            connections["default"].settings_dict, redis_url=settings.REDIS_URL
        )
        stack.environment["KAIZEN_LOG_LEVEL"] = "WARNING"
        with stack:
            stack.start_jobs()
            people = [stack.person("alice") for _ in range(PEOPLE)]
            return uvloop.run(work(Ground(stack, people)))


def main() -> int:
    names = sys.argv[1:] or list(MEASURES)
    if unknown := sorted(set(names) - set(MEASURES)):
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(MEASURES)}", file=sys.stderr)
        return 2
    with_ground(lambda ground: measure(ground, names))
    return 0


if __name__ == "__main__":
    sys.exit(main())

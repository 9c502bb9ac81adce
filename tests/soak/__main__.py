"""`python -m tests.soak [MINUTES]` (default 10): prints a line a round, fails when answers are lost
or the memory of our processes keeps growing.
"""

import asyncio
import sys
import time
from contextlib import AsyncExitStack
from typing import Final

from tests.bench import __main__ as bench
from tests.bench.measures import Ground
from tests.bench.processes import pss_mib, with_children
from tests.bench.readers import Answer

STREAMS: Final = 100
ORDER: Final = "bench 300 @ 30"
SETTLED_ROUNDS: Final = 3  # caches and pools have their size after these
GROWTH_MIB: Final = 60.0
DEFAULT_MINUTES: Final = 10.0


async def soak(ground: Ground, minutes: float) -> list[str]:
    """Rounds of streams; what went wrong."""
    problems: list[str] = []
    sizes: list[float] = []
    until = time.monotonic() + minutes * 60
    while time.monotonic() < until or len(sizes) <= SETTLED_ROUNDS:
        answers = await one_round(ground)
        lost = sum(not answer.completed for answer in answers)
        short = sum(len(answer.words) != 300 for answer in answers)
        sizes.append(pss_mib(with_children(ground.stack.ids("web", "worker", "jobs"))))
        print(
            f"round {len(sizes)}: {len(answers) - lost} of {STREAMS} completed,"
            f" {short} with words missing, {sizes[-1]:.0f} MiB",
            flush=True,
        )
        if lost or short:
            problems.append(f"round {len(sizes)}: {lost} lost, {short} short")
    growth = sizes[-1] - sizes[SETTLED_ROUNDS - 1]
    if growth > GROWTH_MIB:
        problems.append(f"memory grew by {growth:.0f} MiB")
    return problems


async def one_round(ground: Ground) -> list[Answer]:
    """New conversations, one question each, all at once."""
    async with AsyncExitStack() as exits:
        sockets = [await ground.ours(exits, number) for number in range(STREAMS)]
        answers = await asyncio.gather(*(socket.ask(ORDER) for socket in sockets))
    return [answer.read() for answer in answers]


def main() -> int:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_MINUTES
    problems = bench.with_ground(lambda ground: soak(ground, minutes))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

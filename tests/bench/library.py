"""What lists and pickers cost with much on the shelves, beside what they cost with little.

The cost is CPU time, of this thread and of the database's processes that serve it, so that other
work on the machine changes little. The database must run on this machine.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.definitions import differences, usable
from agents.journal.offloading import in_database
from agents.members.models import Member
from artifacts import comparing
from tests.bench.measures import Figure, Ground
from tests.bench.processes import cpu_s
from tests.bench.shelves import CONVERSATION, LARGE, LONG_AGENT, LONG_ARTIFACT, SMALL, Shelves

ROUNDS: Final = 40
WARM_UP: Final = 4
GOAL: Final = 1.5
# What people open, by what it is called in the table.
ADDRESSES: Final = {
    "agents": "/api/agents",
    "agents for chat": "/api/agents?mode=chat",
    "agents of one's own": "/api/agents?owner=me",
    "agents others share": "/api/agents?owner=shared",
    "agents that come along": "/api/agents?owner=included",
    "agents, a rare word": "/api/agents?q=zebra",
    "agents, a common word": "/api/agents?q=things",
    "agents, a word nobody uses": "/api/agents?q=unheard",
    "versions of an agent": f"/api/agents/{LONG_AGENT}/versions",
    "page of agents": "/agents",
    "new chat with its picker": "/",
    "people to share with": "/api/people?q=other",
    "artifacts": "/api/artifacts",
    "artifacts of a conversation": f"/api/artifacts?conversation_id={CONVERSATION}",
    "artifacts, a rare word": "/api/artifacts?q=zebra",
    "artifacts, a word nobody uses": "/api/artifacts?q=unheard",
    "artifacts of a kind": "/api/artifacts?kind=code",
    "page of artifacts": "/artifacts",
    "versions of an artifact": f"/api/artifacts/{LONG_ARTIFACT}/versions",
}
LONGEST: Final = 100_000  # characters
DIFF_ROUNDS: Final = 3
STEEPEST: Final = 6.0  # four times as much text, with room for caches and garbage
# The difference of texts that are alike, and of those made to be hard to compare.
COMPARING: Final[dict[str, Callable[[str, str], object]]] = {
    "lines": comparing.marked,
    "words": lambda before, after: differences.between({"persona": before}, {"persona": after}),
}
PAIRS: Final[dict[str, Callable[[int], tuple[str, str]]]] = {
    "one word changed": lambda n: (prose(n), prose(n).replace("word77 ", "other ", 1)),
    "every third line changed": lambda n: (lines(n, 0), lines(n, 3)),
    "nothing in common": lambda n: ("a b\n" * (n // 4), "c d\n" * (n // 4)),
    "the same few lines in another order": lambda n: ("a\nb\n" * (n // 4), "b\na\nb\n" * (n // 6)),
    "one long line": lambda n: ("x y " * (n // 4), "y x z " * (n // 6)),
    "reversed": lambda n: (lines(n, 0), "\n".join(reversed(lines(n, 0).split("\n")))),
}
OF_ONE_OWNER: Final = ("versions of an agent", "versions of an artifact")


def prose(characters: int) -> str:
    """Lines of words, each word once."""
    return "\n".join(
        " ".join(f"word{line * 8 + place} " for place in range(8))
        for line in range(characters // 80)
    )


def lines(characters: int, every: int) -> str:
    """Numbered lines; every so-manieth is another in the second text."""
    return "\n".join(
        f"line {number} changed" if every and number % every == 0 else f"line {number} as it was"
        for number in range(characters // 20)
    )


@dataclass
class Cost:
    """What one thing took each time: CPU milliseconds, and how many statements."""

    ms: float
    statements: set[int]


async def library(_: Ground) -> list[Figure]:
    """Every list and picker, for a reader of nearly everything and for one of a few things; and
    what comparing two versions costs.
    """
    return [*await in_database(compared), *await in_database(differing)]


def differing() -> list[Figure]:
    """Texts of 100,000 characters beside texts of a quarter: linear is four times as long."""
    return [
        _growth(f"{what}: {name}", compare, texts)
        for what, compare in COMPARING.items()
        for name, texts in PAIRS.items()
    ]


def _growth(
    name: str, compare: Callable[[str, str], object], texts: Callable[[int], tuple[str, str]]
) -> Figure:
    took_ms = {}
    for characters in (LONGEST // 4, LONGEST):
        before, after = (text[:characters] for text in texts(characters))
        rounds = []
        for _ in range(DIFF_ROUNDS):
            started = time.perf_counter()
            compare(before, after)
            rounds.append((time.perf_counter() - started) * 1000)
        took_ms[characters] = min(rounds)
    quarter, whole = took_ms[LONGEST // 4], took_ms[LONGEST]
    return Figure(
        f"compared: {name}",
        f"{whole:.0f} ms",
        f"{quarter:.0f} ms for a quarter",
        f"{whole / quarter:.1f} x",
        f"<= {STEEPEST} x",
        whole <= STEEPEST * max(quarter, 1.0),
    )


def compared() -> list[Figure]:
    """Little, then much, in one database."""
    shelves = Shelves.built()
    costs = []
    for size in (SMALL, LARGE):
        shelves.grow(size)
        costs.append(measured(shelves))
    little, much = costs
    return [_figure(name, little[name], much[name]) for name in little]


def measured(shelves: Shelves) -> dict[str, Cost]:
    """What everything costs now."""
    costs = {}
    for reader, member in (("all", shelves.far), ("few", shelves.near)):
        client = Client(HTTP_HOST=settings.ALLOWED_HOSTS[0].lstrip("."))
        client.force_login(member)
        for name, act in _acts(client, reader, member).items():
            costs[name] = _cost(act)
    return costs


def _acts(client: Client, reader: str, member: Member) -> dict[str, Callable[[], object]]:
    acts = {
        f"{name} ({reader})": _opening(client, address)
        for name, address in ADDRESSES.items()
        if reader == "all" or name not in OF_ONE_OWNER
    }
    acts[f"may this be used ({reader})"] = lambda: usable.newest_version(member, UUID(LONG_AGENT))
    return acts


def _opening(client: Client, address: str) -> Callable[[], object]:
    def act() -> object:
        answer: Any = client.get(address)
        assert answer.status_code == 200, f"{address} answered {answer.status_code}"
        return answer

    return act


def _cost(act: Callable[[], object]) -> Cost:
    for _ in range(WARM_UP):
        act()
    serving = _serving()
    database_s, own_s = cpu_s(serving), time.thread_time()
    for _ in range(ROUNDS):
        act()
    used_s = time.thread_time() - own_s + cpu_s(serving) - database_s
    counts = set()
    for _ in range(2):
        with CaptureQueriesContext(connection) as captured:
            act()
        counts.add(len(captured))
    return Cost(used_s * 1000 / ROUNDS, counts)


def _serving() -> set[int]:
    """The database's processes with a connection to this database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
        return {int(pid) for (pid,) in cursor.fetchall()}


def _figure(name: str, little: Cost, much: Cost) -> Figure:
    ratio = much.ms / little.ms
    counts = sorted(little.statements | much.statements)
    return Figure(
        name,
        f"{much.ms:.1f} ms",
        f"{little.ms:.1f} ms, {'/'.join(map(str, counts))} statements",
        f"{ratio:.2f} x",
        f"<= {GOAL} x",
        ratio <= GOAL and len(counts) == 1,
    )

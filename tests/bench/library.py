"""What lists and pickers cost with much on the shelves, beside what they cost with little."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.definitions import usable
from agents.journal.offloading import in_database
from agents.members.models import Member
from tests.bench.measures import Figure, Ground
from tests.bench.shelves import CONVERSATION, LARGE, LONG_AGENT, LONG_ARTIFACT, SMALL, Shelves

ROUNDS: Final = 25
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
OF_ONE_OWNER: Final = ("versions of an agent", "versions of an artifact")


@dataclass
class Cost:
    """What one thing took: milliseconds in all, in the database, and how many statements."""

    total_ms: list[float] = field(default_factory=list)
    database_ms: list[float] = field(default_factory=list)
    statements: set[int] = field(default_factory=set)


async def library(_: Ground) -> list[Figure]:
    """Every list and picker, for a reader of nearly everything and for one of a few things."""
    return await in_database(compared)


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
    return {
        name: _cost(act)
        for reader, member in (("all", shelves.far), ("few", shelves.near))
        for name, act in _acts(reader, member).items()
    }


def _acts(reader: str, member: Member) -> dict[str, Callable[[], object]]:
    client = Client(HTTP_HOST=settings.ALLOWED_HOSTS[0].lstrip("."))
    client.force_login(member)

    def opening(address: str) -> Callable[[], object]:
        def act() -> object:
            answer: Any = client.get(address)
            assert answer.status_code == 200, f"{address} answered {answer.status_code}"
            return answer

        return act

    acts: dict[str, Callable[[], object]] = {
        f"{name} ({reader})": opening(address)
        for name, address in ADDRESSES.items()
        if reader == "all" or name not in OF_ONE_OWNER
    }
    acts[f"may this be used ({reader})"] = lambda: usable.newest_version(member, UUID(LONG_AGENT))
    return acts


def _cost(act: Callable[[], object]) -> Cost:
    cost = Cost()
    for number in range(WARM_UP + ROUNDS):
        started = time.perf_counter()
        act()
        taken_ms = (time.perf_counter() - started) * 1000
        if number >= WARM_UP:
            cost.total_ms.append(taken_ms)
    for _ in range(WARM_UP):
        with CaptureQueriesContext(connection) as captured:
            act()
        cost.statements.add(len(captured))
        cost.database_ms.append(sum(float(each["time"]) for each in captured) * 1000)
    return cost


def _figure(name: str, little: Cost, much: Cost) -> Figure:
    before, after = median(little.total_ms), median(much.total_ms)
    counts = sorted(little.statements | much.statements)
    fixed = max(counts) == min(counts)
    return Figure(
        name,
        f"{after:.1f} ms",
        f"{before:.1f} ms, {'/'.join(map(str, counts))} statements",
        f"{after / before:.2f} x",
        f"<= {GOAL} x",
        after <= GOAL * before and fixed,
    )

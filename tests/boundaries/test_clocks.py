"""Leases and due times are decided by the database's clock; every other time knows its zone."""

import ast
from collections.abc import Iterable

import pytest

from tests.boundaries.source import Source, runtime_sources, sample

# Where a wrong clock would give one run to two workers, or none.
DECIDING = (
    "tools/effects/",
    "agents/turns/recovery.py",
    "agents/turns/worker.py",
    "agents/turns/heartbeats.py",
    "agents/turns/parking.py",
    "agents/turns/steering.py",
    "agents/conversations/steers.py",
    "agents/conversations/queue.py",
    "tools/boundary/approvals.py",
    "tools/boundary/clearance.py",
    "agents/tasking/",
)
CLOCKS = {
    "datetime.now",
    "datetime.datetime.now",
    "timezone.now",
    "date.today",
    "datetime.date.today",
    "time.time",
    "time.time_ns",
    "time.monotonic",
    "time.localtime",
    "localtime",
    "localdate",
    "now",
}
ZONELESS = {
    "datetime.utcnow",
    "datetime.datetime.utcnow",
    "date.today",
    "datetime.date.today",
    "datetime.utcfromtimestamp",
}


def clock_faults(sources: Iterable[Source]) -> list[str]:
    return [
        source.at(node, f"decides by {ast.unparse(node.func)}()")
        for source in sources
        if source.path.startswith(DECIDING)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in CLOCKS
    ]


def zone_faults(sources: Iterable[Source]) -> list[str]:
    """A time without a zone is an hour off for somebody."""
    return [
        source.at(node, f"takes a time without a zone: {ast.unparse(node)}")
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and (
            ast.unparse(node.func) in ZONELESS
            or (ast.unparse(node.func).endswith("datetime.now") and not node.args + node.keywords)
        )
    ]


def test_leases_are_decided_by_the_database() -> None:
    deciding = [source for source in runtime_sources() if source.path.startswith(DECIDING)]
    assert len(deciding) >= 5
    assert clock_faults(runtime_sources()) == []


@pytest.mark.parametrize(
    "call", ["timezone.now()", "time.time()", "datetime.now(UTC)", "time.monotonic()"]
)
def test_a_lease_decided_by_the_machine_is_found(call: str) -> None:
    assert clock_faults([sample("tools/effects/claims.py", f"expired = lease < {call}")])
    assert clock_faults([sample("agents/prompts/temporal.py", f"at = {call}")]) == []


def test_every_time_knows_its_zone() -> None:
    assert zone_faults(runtime_sources()) == []


@pytest.mark.parametrize(
    "call", ["datetime.now()", "datetime.utcnow()", "datetime.datetime.now()", "date.today()"]
)
def test_a_time_without_a_zone_is_found(call: str) -> None:
    assert zone_faults([sample("agents/x.py", f"at = {call}")])
    assert zone_faults([sample("agents/x.py", "at = datetime.now(UTC)")]) == []

"""Claiming stays cheap however many settled runs the table keeps."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from tools.effects import claims

SETTLED_RUNS = 100_000

pytestmark = pytest.mark.django_db


@pytest.fixture
def long_history() -> None:
    """Settled runs in bulk: a state that takes months to grow by the real operations."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO effects_runclaim (run_id, queue, lane, ordinal, state, fence, owner,"
            " attempts, settled_at) SELECT gen_random_uuid(), 'turns', gen_random_uuid(), 1,"
            " 'settled', 1, '', 1, clock_timestamp() FROM generate_series(1, %s)",
            [SETTLED_RUNS],
        )
        cursor.execute("ANALYZE effects_runclaim")


def plan_of(statement: str, parameters: Any) -> list[dict[str, Any]]:
    """All nodes of the plan that ran, flattened."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters)
        (raw,) = cursor.fetchone()
    tree = (json.loads(raw) if isinstance(raw, str) else raw)[0]["Plan"]
    nodes, rest = [], [tree]
    while rest:
        node = rest.pop()
        nodes.append(node)
        rest += node.get("Plans", [])
    return nodes


def test_the_claim_reads_only_open_runs(long_history: None) -> None:
    lane = uuid4()
    for ordinal in range(1, 21):
        claims.enqueue(uuid4(), lane=lane if ordinal > 10 else uuid4(), ordinal=ordinal)
    statements: list[tuple[str, Any]] = []

    def remember(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        statements.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(remember):
        assert len(claims.claim("one", limit=4, lease_s=30)) == 4
    ((statement, parameters),) = statements
    nodes = plan_of(statement, parameters)
    scans = [node for node in nodes if node.get("Relation Name") == "effects_runclaim"]
    assert "Seq Scan" not in {node["Node Type"] for node in scans}
    indexes = {node.get("Index Name") for node in nodes}
    assert {"open_runs", "open_runs_of_lane"} <= indexes
    assert max(node["Actual Rows"] * node["Actual Loops"] for node in scans) <= 40

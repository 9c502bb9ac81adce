"""Lease decisions read one clock: the database's, whatever the worker's own says."""

import ast
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from django.db import connection

from tools.effects import claims

CLAIMS = Path(claims.__file__)
CLOCKS = {"time", "datetime", "django.utils.timezone", "zoneinfo", "asyncio"}


def test_no_module_of_this_layer_imports_a_clock() -> None:
    found = set()
    for path in CLAIMS.parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found |= {node.module or "", *(f"{node.module}.{n.name}" for n in node.names)}
    assert found & CLOCKS == set()
    assert "django.db" in "".join(sorted(found))  # the walk saw imports at all


@pytest.mark.django_db
def test_the_lease_ends_the_asked_seconds_after_the_databases_now() -> None:
    run_id, queue = uuid4(), f"clock-{uuid4().hex[:8]}"
    claims.enqueue(run_id, lane=uuid4(), ordinal=1, queue=queue)
    (claim,) = claims.claim("one", limit=1, lease_s=30, queue=queue)
    assert 29 < seconds_left(run_id) <= 30
    claims.renew([claim], lease_s=90)
    assert 89 < seconds_left(run_id) <= 90


def seconds_left(run_id: UUID) -> float:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM lease_until - clock_timestamp())::float8"
            " FROM effects_runclaim WHERE run_id = %s",
            [run_id],
        )
        return float(cursor.fetchone()[0])

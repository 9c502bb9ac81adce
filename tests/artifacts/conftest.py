"""Claims of runs that write artifacts."""

import secrets
from collections.abc import Callable
from uuid import uuid4

import pytest

from artifacts.writing import RunWrite
from tools.effects import claims


@pytest.fixture
def start_run() -> Callable[..., RunWrite]:
    """A run that holds its lease: `start_run()`; with `lease_s=0` it can be taken over at once."""

    def start(*, lease_s: float = 60, call_id: str = "run:1:1") -> RunWrite:
        run_id, queue = uuid4(), f"tests-{secrets.token_hex(6)}"
        claims.enqueue(run_id, lane=uuid4(), ordinal=1, queue=queue)
        (claim,) = claims.claim("first", limit=1, lease_s=lease_s, queue=queue)
        return RunWrite(run_id, claim.fence, call_id, f"agent:{uuid4()}")

    return start

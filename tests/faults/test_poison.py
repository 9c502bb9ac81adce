"""A turn that kills every worker that takes it up is given up, and holds nobody else up."""

import secrets

import pytest

from agents.journal import replay
from tests.faults.harness import Crowd, House
from tests.patience import seen, until
from tests.stack import Stack
from tools.effects.claims import MAX_ATTEMPTS
from tools.effects.models import RunClaim

pytestmark = pytest.mark.stack
ENDED_S = 40.0


@pytest.mark.req("INP-019")
def test_after_three_starts_it_ends_as_failed_and_others_go_on(
    house: House, crowd: Crowd, stack: Stack
) -> None:
    gate = secrets.token_hex(4)
    house.crew(1)
    poison = crowd.ask(f"hold: {gate}\nsay: Never said\n")
    for attempt in range(1, MAX_ATTEMPTS + 1):
        (victim,) = seen(house.busy, "somebody works it")
        until(lambda number=attempt: stack.held(gate) >= 1, f"start {attempt}")
        house.start_one()
        house.expire(house.kill(victim), victim)
    other = crowd.ask("say: Hello\n")
    crowd.wait(ENDED_S)
    end = replay.of_run(poison.run_id)[-1]
    assert (end.kind, end.data["reason"]) == ("agent_run_failed", "attempts_exhausted")
    assert RunClaim.objects.get(run_id=poison.run_id).attempts == MAX_ATTEMPTS + 1
    assert replay.of_run(other.run_id)[-1].kind == "agent_run_completed"
    assert crowd.violations() == []

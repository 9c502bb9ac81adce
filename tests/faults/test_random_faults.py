"""Faults at moments nobody chose, while many turns run."""

import secrets
import time

import pytest

from agents.journal import replay
from tests.faults.harness import Crowd, House, seeded
from tests.patience import seen
from tests.stack import Stack

pytestmark = pytest.mark.stack

COMPLETED_SHARE = 0.9  # below it the run was too broken to prove anything
ENDED_S = 60.0
BRIEF_LEASE_S = 5
SCRIPTS = (
    "tokens: 30 @ 20/s\n",
    "think-tokens: 10 @ 20/s\ntokens: 10 @ 20/s\n",
    'say: Looking\ncall: search_about {"question": "limits"}\nthen:\ntokens: 12 @ 20/s\n',
    'call: list_available_agents {}\ncall: search_about {"question": "agents"}\nthen:\nsay: So\n',
)


def fill(crowd: Crowd, conversations: int) -> None:
    """Two turns for each conversation."""
    for number in range(conversations):
        first = crowd.ask(SCRIPTS[number % len(SCRIPTS)])
        where = replay.of_run(first.run_id)[0].stream_id
        crowd.ask(SCRIPTS[(number + 1) % len(SCRIPTS)], where)


@pytest.mark.req("ENG-020", "INP-019")
def test_workers_killed_at_random(house: House, crowd: Crowd, stack: Stack) -> None:
    chance, seed = seeded()
    gate = secrets.token_hex(4)
    house.crew(2)
    fill(crowd, 10)
    for _ in range(3):
        crowd.ask(f"hold: {gate}\nsay: So\n")  # however late a kill comes, it meets a turn
        time.sleep(chance.uniform(0.2, 1.2))
        victim = chance.choice(seen(lambda: house.busy(spare_last=True), "a worker to lose"))
        house.expire(house.kill(victim), victim)
        house.start_one()
    stack.release(gate)
    crowd.wait(ENDED_S)
    assert crowd.violations() == [], seed
    assert crowd.completed_share() >= COMPLETED_SHARE, seed
    assert crowd.taken_over() > 0, seed


def test_database_connections_cut_at_random(house: House, crowd: Crowd) -> None:
    chance, seed = seeded()
    house.crew(2, lease_s=BRIEF_LEASE_S)
    fill(crowd, 12)
    cut = 0
    for _ in range(4):
        time.sleep(chance.uniform(0.2, 0.9))
        cut += house.cut_connections()
    crowd.wait(ENDED_S)
    assert cut > 0, seed
    assert crowd.violations() == [], seed
    assert crowd.completed_share() >= COMPLETED_SHARE, seed


@pytest.mark.req("CFG-004")
def test_a_broker_emptied_and_stopped_loses_nothing(house: House, crowd: Crowd) -> None:
    chance, seed = seeded()
    house.crew(1)
    fill(crowd, 6)
    time.sleep(chance.uniform(0.1, 0.6))
    house.broker.flush()
    fill(crowd, 4)
    time.sleep(chance.uniform(0.1, 0.6))
    house.broker.stop()
    fill(crowd, 4)
    crowd.wait(ENDED_S)
    house.broker.start()
    fill(crowd, 2)
    crowd.wait(ENDED_S)
    assert crowd.violations() == [], seed
    assert crowd.completed_share() == 1.0, seed

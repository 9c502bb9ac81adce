"""Workers lost at each point of a turn: held there by a lock, then killed.

Whatever the point, the next worker brings the turn to its one end and repeats no write.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest

from agents.conversations import inputs
from agents.conversations.inputs import Accepted
from agents.journal import replay
from artifacts.models import ArtifactVersion
from tests.faults.harness import LEASE_S, Crowd, House, held, until
from tools.effects.models import RunClaim

pytestmark = pytest.mark.stack

PLAIN = "tokens: 24 @ 24/s\n"
WRITING = (
    'call: create_artifact {"title": "Plan", "kind": "markdown", "content": "# Plan"}\n'
    "then:\nsay: Saved\n"
)
STREAM = "SELECT head FROM journal_stream WHERE id = %s FOR UPDATE"
INTENTS = "LOCK TABLE effects_reservation IN EXCLUSIVE MODE"
NOTICED_S = 4.0  # a lease of two seconds, one second until the next look, one for a busy machine
ENDED_S = 40.0


@pytest.fixture
def pair(house: House) -> House:
    """A worker to lose, and one that rests until then."""
    house.start("lost", "next")
    house.pause("next")
    return house


def kinds(asked: Accepted) -> list[str]:
    return [entry.kind for entry in replay.of_run(asked.run_id)]


def lane(asked: Accepted) -> UUID:
    return RunClaim.objects.values_list("lane", flat=True).get(run_id=asked.run_id)


def lose(house: House) -> None:
    house.kill("lost")
    house.resume("next")


def wrote(asked: Accepted) -> int:
    return ArtifactVersion.objects.filter(run_id=asked.run_id).count()


@contextmanager
def waiting_for(house: House, statement: str, *parameters: object) -> Iterator[None]:
    """Hold a lock until the worker waits for it, and while the body runs."""
    with held(statement, parameters):
        until(lambda: house.blocked("lost"), "the worker waits for the lock")
        yield


@pytest.mark.req("INP-019", "ENG-019")
def test_killed_while_it_claims(pair: House, crowd: Crowd) -> None:
    conversation = inputs.open_conversation(member=crowd.member)
    pair.pause("lost")
    asked = crowd.ask(PLAIN, conversation.id)
    with held(STREAM, [conversation.id]):
        pair.resume("lost")
        until(lambda: pair.blocked("lost"), "the worker waits for the lock")
        lose(pair)
    crowd.wait(ENDED_S)
    assert RunClaim.objects.get(run_id=asked.run_id).attempts == 1  # the claim went with it
    assert (crowd.violations(), crowd.completed_share()) == ([], 1.0)


def test_killed_inside_the_models_answer_and_noticed_in_time(pair: House, crowd: Crowd) -> None:
    asked = crowd.ask(PLAIN)
    until(lambda: "agent_run_started" in kinds(asked), "the turn has started")
    time.sleep(0.4)
    lose(pair)
    lost_at = time.monotonic()
    until(lambda: RunClaim.objects.get(run_id=asked.run_id).fence == 2, "it is taken over")
    assert time.monotonic() - lost_at <= NOTICED_S
    crowd.wait(ENDED_S)
    assert (crowd.violations(), crowd.completed_share()) == ([], 1.0)


def test_killed_after_the_call_and_before_its_intent(pair: House, crowd: Crowd) -> None:
    with held(INTENTS):
        asked = crowd.ask(WRITING)
        until(lambda: "tool_started" in kinds(asked), "the call is journaled")
        until(lambda: pair.blocked("lost"), "the worker waits for the lock")
        lose(pair)
    crowd.wait(ENDED_S)
    assert wrote(asked) == 1  # it had not begun, so it was done now
    assert (crowd.violations(), crowd.completed_share()) == ([], 1.0)


@pytest.mark.req("ENG-019")
def test_killed_after_the_write_and_before_its_result(pair: House, crowd: Crowd) -> None:
    with held(INTENTS) as let_go:
        asked = crowd.ask(WRITING)
        until(lambda: "tool_started" in kinds(asked), "the call is journaled")
        with held(STREAM, [lane(asked)]):
            let_go()
            until(lambda: wrote(asked) == 1, "the artifact is written")
            until(lambda: pair.blocked("lost"), "the worker waits to store the result")
            lose(pair)
    crowd.wait(ENDED_S)
    end = replay.of_run(asked.run_id)[-1]
    assert (end.kind, end.data["reason"]) == ("agent_run_failed", "ambiguous_write")
    assert wrote(asked) == 1
    assert crowd.violations() == []


def test_killed_before_the_commit_of_its_end(pair: House, crowd: Crowd) -> None:
    asked = crowd.ask(PLAIN)
    until(lambda: "agent_run_started" in kinds(asked), "the turn has started")
    with waiting_for(pair, STREAM, lane(asked)):
        lose(pair)
    crowd.wait(ENDED_S)
    assert (crowd.violations(), crowd.completed_share()) == ([], 1.0)


def test_killed_right_after_its_end(pair: House, crowd: Crowd) -> None:
    asked = crowd.ask("say: Hello\n")
    following = crowd.ask("say: Next\n", lane(asked))
    until(lambda: "agent_run_completed" in kinds(asked), "the turn has ended")
    lose(pair)
    crowd.wait(ENDED_S)
    assert kinds(following)[-1] == "agent_run_completed"
    assert (crowd.violations(), crowd.completed_share()) == ([], 1.0)


@pytest.mark.req("INP-019")
def test_paused_past_its_lease_and_woken_again(pair: House, crowd: Crowd) -> None:
    for _ in range(10):
        crowd.ask(PLAIN)
    until(lambda: all("agent_run_started" in kinds(a) for a in crowd.asked), "all have started")
    pair.pause("lost")
    pair.resume("next")
    time.sleep(LEASE_S)
    until(
        lambda: all(RunClaim.objects.get(run_id=a.run_id).fence == 2 for a in crowd.asked),
        "all are taken over",
    )
    pair.resume("lost")  # it goes on where it was, with ten stale fences
    crowd.wait(ENDED_S)
    time.sleep(1.0)
    assert (crowd.violations(), crowd.completed_share()) == ([], 1.0)

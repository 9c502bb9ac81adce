"""Workers lost at each point of a turn: held there by a lock, then killed.

Whatever the point, the next worker brings the turn to its one end and repeats no write.
"""

import secrets
import subprocess
from dataclasses import dataclass
from uuid import UUID

import pytest

from agents.conversations import inputs
from agents.conversations.inputs import Accepted
from agents.journal import replay
from artifacts.models import ArtifactVersion
from tests.faults.harness import Crowd, House, held
from tests.patience import until
from tests.stack import Stack
from tools.effects.models import RunClaim

pytestmark = pytest.mark.stack

PLAIN = "tokens: 24 @ 24/s\n"
HELD = "say: Well\nhold: {gate}\n"
LOOKING = 'say: Well\nhold: {gate}\ncall: search_about {{"question": "limits"}}\nthen:\nsay: So\n'
WRITING = (
    'call: create_artifact {"title": "Plan", "kind": "markdown", "content": "# Plan"}\n'
    "then:\nsay: Saved\n"
)
STREAM = "SELECT head FROM journal_stream WHERE id = %s FOR UPDATE"
CLAIM = "SELECT 1 FROM effects_runclaim WHERE run_id = %s FOR UPDATE"
INTENTS = "LOCK TABLE effects_reservation IN EXCLUSIVE MODE"
SHORT_LEASE_S = 2
ELSEWHERE = "is worked elsewhere"  # what a worker says whose fence was refused
ENDED_S = 40.0


@dataclass
class Pair:
    """A worker to lose, and others that rest until then."""

    house: House
    lost: str
    others: list[str]
    dead: subprocess.Popen[bytes] | None = None

    def lose(self) -> None:
        """Kill the one and wake the others; its successor starts meanwhile."""
        self.dead = self.house.kill(self.lost)
        self.wake()
        self.house.start_one()

    def expire(self) -> None:
        """Let the leases of the lost one run out; locks that hold it are let go before."""
        self.house.expire(self.dead or self.house.workers[self.lost], self.lost)

    def wake(self) -> None:
        for name in self.others:
            self.house.resume(name)

    def is_blocked(self) -> bool:
        """Whether the worker to lose waits for a lock."""
        return self.house.blocked(self.lost)


@pytest.fixture
def pair(house: House) -> Pair:
    lost, *others = house.crew(2)
    for name in others:
        house.rest(name)
    return Pair(house, lost, others)


def kinds(asked: Accepted) -> list[str]:
    return [entry.kind for entry in replay.of_run(asked.run_id)]


def lane(asked: Accepted) -> UUID:
    return RunClaim.objects.values_list("lane", flat=True).get(run_id=asked.run_id)


def fence(asked: Accepted) -> int:
    return RunClaim.objects.get(run_id=asked.run_id).fence


def wrote(asked: Accepted) -> int:
    return ArtifactVersion.objects.filter(run_id=asked.run_id).count()


@pytest.mark.req("INP-019", "ENG-019")
def test_killed_while_it_claims(pair: Pair, crowd: Crowd) -> None:
    conversation = inputs.open_conversation(member=crowd.member)
    pair.house.rest(pair.lost)
    asked = crowd.ask(PLAIN, conversation.id)
    with held(STREAM, [conversation.id]):
        pair.house.resume(pair.lost)
        until(pair.is_blocked, "the worker waits for the lock")
        pair.lose()
    pair.expire()
    crowd.wait(ENDED_S)
    assert RunClaim.objects.get(run_id=asked.run_id).attempts == 1  # the claim went with it
    assert (crowd.violations(), crowd.completed_share()) == ([], 1.0)


def test_killed_inside_the_models_answer_and_noticed_by_its_lease(
    house: House, crowd: Crowd, stack: Stack
) -> None:
    lost, other = house.crew(2, lease_s=SHORT_LEASE_S)
    house.rest(other)
    gate = secrets.token_hex(4)
    asked = crowd.ask(HELD.format(gate=gate))
    until(lambda: stack.held(gate) == 1, "the model is answering")
    house.kill(lost)
    house.resume(other)
    until(lambda: fence(asked) > 1, "the lease has run out and it is taken over")
    stack.release(gate)
    crowd.wait(ENDED_S)
    assert (crowd.violations(), crowd.completed_share()) == ([], 1.0)


def test_killed_after_the_call_and_before_its_intent(pair: Pair, crowd: Crowd) -> None:
    with held(INTENTS):
        asked = crowd.ask(WRITING)
        until(lambda: "tool_started" in kinds(asked), "the call is journaled")
        until(pair.is_blocked, "the worker waits for the lock")
        pair.lose()
    pair.expire()
    crowd.wait(ENDED_S)
    assert wrote(asked) == 1  # it had not begun, so it was done now
    assert (crowd.violations(), crowd.completed_share()) == ([], 1.0)


@pytest.mark.req("ENG-019")
def test_killed_after_the_write_and_before_its_result(pair: Pair, crowd: Crowd) -> None:
    with held(INTENTS) as let_go:
        asked = crowd.ask(WRITING)
        until(lambda: "tool_started" in kinds(asked), "the call is journaled")
        with held(STREAM, [lane(asked)]):
            let_go()
            until(lambda: wrote(asked) == 1, "the artifact is written")
            until(pair.is_blocked, "the worker waits to store the result")
            pair.lose()
    pair.expire()
    crowd.wait(ENDED_S)
    end = replay.of_run(asked.run_id)[-1]
    assert (end.kind, end.data["reason"]) == ("agent_run_failed", "ambiguous_write")
    assert wrote(asked) == 1
    assert crowd.violations() == []


def test_killed_before_the_commit_of_its_end(pair: Pair, crowd: Crowd, stack: Stack) -> None:
    gate = secrets.token_hex(4)
    asked = crowd.ask(HELD.format(gate=gate))
    until(lambda: stack.held(gate) == 1, "the model is answering")
    with held(STREAM, [lane(asked)]):
        stack.release(gate)
        until(pair.is_blocked, "the worker waits to write the end")
        pair.lose()
    pair.expire()
    crowd.wait(ENDED_S)
    assert (crowd.violations(), crowd.completed_share()) == ([], 1.0)


def test_killed_right_after_its_end(pair: Pair, crowd: Crowd) -> None:
    asked = crowd.ask("say: Hello\n")
    following = crowd.ask("say: Next\n", lane(asked))
    until(lambda: "agent_run_completed" in kinds(asked), "the turn has ended")
    pair.lose()
    pair.expire()
    crowd.wait(ENDED_S)
    assert kinds(following)[-1] == "agent_run_completed"
    assert (crowd.violations(), crowd.completed_share()) == ([], 1.0)


@pytest.mark.req("INP-019")
def test_paused_past_its_lease_and_woken_again(pair: Pair, crowd: Crowd, stack: Stack) -> None:
    gate = secrets.token_hex(4)
    decoy, *stolen = [crowd.ask(LOOKING.format(gate=gate)) for _ in range(10)]
    until(lambda: stack.held(gate) == 10, "the model is answering all")
    pair.house.rest(pair.lost)
    pair.expire()
    with held(CLAIM, [decoy.run_id]):  # its renewal waits here and cannot tell it what it lost
        pair.wake()
        until(lambda: all(fence(asked) == 2 for asked in stolen), "nine are taken over")
        pair.house.resume(pair.lost)  # it goes on where it was, with nine stale fences
        until(pair.is_blocked, "its renewal waits")
        stack.release(gate)
        until(lambda: pair.house.said(pair.lost, ELSEWHERE) >= 9, "nine writes were refused")
    crowd.wait(ENDED_S)
    assert (crowd.violations(), crowd.completed_share()) == ([], 1.0)

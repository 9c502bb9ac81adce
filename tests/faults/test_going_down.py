"""Workers that are asked to end, and what must not make one end."""

import secrets
import signal

import pytest
import redis

from agents.gateway.models import ModelCall
from agents.journal.publication import ASK_CHANNEL, WAKE_CHANNEL
from tests.faults.harness import Crowd, House, held
from tests.patience import promised, until
from tests.stack import Stack
from tools.effects.models import RunClaim

pytestmark = pytest.mark.stack
ENDED_S = 40.0


def test_a_worker_that_is_asked_to_end_gives_its_turns_back(
    house: House, crowd: Crowd, stack: Stack
) -> None:
    gate = secrets.token_hex(4)
    leaving, *others = house.crew(2)
    for name in others:
        house.rest(name)
    for _ in range(4):
        crowd.ask(f"say: Well\nhold: {gate}\n")
    until(lambda: stack.held(gate) == 4, "all are being answered")
    process = house.workers.pop(leaving)
    process.send_signal(signal.SIGTERM)
    assert process.wait(promised(15)) == 0
    asked = [accepted.run_id for accepted in crowd.asked]
    rows = RunClaim.objects.filter(run_id__in=asked)
    assert {(row.state, row.attempts) for row in rows} == {("queued", 0)}
    stack.release(gate)
    for name in others:
        house.resume(name)
    crowd.wait(ENDED_S)
    assert {row.attempts for row in rows.all()} == {1}
    assert (crowd.violations(), crowd.completed_share()) == ([], 1.0)


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"other": 1}'])
def test_nonsense_on_its_channels_does_not_hurt_a_worker(
    house: House, crowd: Crowd, payload: bytes
) -> None:
    house.crew(1)
    with redis.Redis.from_url(house.broker.url) as client:
        for channel in (ASK_CHANNEL, WAKE_CHANNEL):
            assert client.publish(channel, payload) >= 1
    crowd.ask("say: Hello\n")
    crowd.wait(ENDED_S)
    with redis.Redis.from_url(house.broker.url) as client:
        assert client.publish(WAKE_CHANNEL, b"run") >= 1  # it still listens
    assert (crowd.violations(), crowd.completed_share()) == ([], 1.0)


def test_an_answer_whose_commit_was_cut_off_is_not_asked_for_again(
    house: House, crowd: Crowd, stack: Stack
) -> None:
    gate = secrets.token_hex(4)
    name, *others = house.crew(1)
    for other in others:
        house.rest(other)
    asked = crowd.ask(f"say: Well\nhold: {gate}\n")
    until(lambda: stack.held(gate) == 1, "it is being answered")
    lane = RunClaim.objects.get(run_id=asked.run_id).lane
    with held("SELECT 1 FROM journal_stream WHERE id = %s FOR UPDATE", [lane]):
        stack.release(gate)
        until(lambda: house.blocked(name), "the worker waits to write the end")
        assert house.cut_connections() > 0
    crowd.wait(ENDED_S)
    for other in others:
        house.resume(other)
    assert ModelCall.objects.filter(run_id=asked.run_id).count() == 1
    assert RunClaim.objects.get(run_id=asked.run_id).fence == 1
    assert (crowd.violations(), crowd.completed_share()) == ([], 1.0)

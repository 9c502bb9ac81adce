"""Hundreds of kills, a database that crashes, and readers who must not notice.

`KAIZEN_CHAOS_KILLS` and `KAIZEN_CHAOS_PAUSES` say how many workers are lost (200 and 100);
`KAIZEN_CHAOS_MINUTES` bounds the time of breaking other things in each test (4).
"""

import asyncio
import os
import random
import secrets
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import pytest
from django.db import DatabaseError, connection

from agents.journal import replay
from agents.journal.models import Entry
from agents.members import tokens
from agents.members.models import TokenScope
from tests.chaos.watching import Watcher, environment, web_process
from tests.faults.harness import Crowd, House, seeded, violations
from tests.patience import seen, until
from tests.stack import Stack
from tools.effects.models import RunClaim

pytestmark = pytest.mark.stack

KILLS = int(os.environ.get("KAIZEN_CHAOS_KILLS", "200"))
PAUSES = int(os.environ.get("KAIZEN_CHAOS_PAUSES", "100"))
BROKER_AWAY_S = 30.0
BREAKING_S = float(os.environ.get("KAIZEN_CHAOS_MINUTES", "4")) * 60
Answer = TypeVar("Answer")

LEASE_S = 2  # short, since here leases run out by themselves
COMPLETED_SHARE = 0.9  # below it the run was too broken to prove anything
ENDED_S = 180.0
TURNS_AT_ONCE = 30
TURNS_PER_FAULT = 6
LOOKING = 'call: search_about {"question": "limits"}\nthen:\ntokens: 12 @ 20/s\n'
SCRIPTS = (
    "tokens: 40 @ 20/s\n",
    "think-tokens: 10 @ 20/s\ntokens: 10 @ 20/s\n",
    f"say: Looking\n{LOOKING}",
    'call: create_artifact {"title": "Note", "kind": "markdown", "content": "x"}\nthen:\nsay: So\n',
)


def keep_busy(crowd: Crowd, chance: random.Random) -> None:
    """Enough open turns that a fault always meets some."""
    for _ in range(min(TURNS_PER_FAULT, TURNS_AT_ONCE - len(crowd.open_runs()))):
        crowd.ask(chance.choice(SCRIPTS))


def to_lose(house: House, crowd: Crowd, chance: random.Random) -> list[str]:
    """Workers whose runs may all be tried again; where nothing is left to do, there is more."""
    if not crowd.open_runs():
        keep_busy(crowd, chance)
    return house.busy(spare_last=True)


def breaking(work: Callable[[], object], bound_s: float = BREAKING_S) -> int:
    """Do it again and again for a while; how often it was done."""
    ends_at, done = time.monotonic() + bound_s, 0
    while time.monotonic() < ends_at:
        work()
        done += 1
    return done


def judge(crowd: Crowd, seed: str, faults: int) -> None:
    """Everything ended, nothing is wrong, and enough worked for that to mean something."""
    crowd.wait(ENDED_S)
    share = crowd.completed_share()
    print(f"{len(crowd.asked)} turns, {faults} faults, {share:.1%} completed, {seed}")
    assert crowd.violations() == [], seed
    assert share >= COMPLETED_SHARE, seed
    assert faults > 0, seed


def test_workers_killed_at_random_moments(house: House, crowd: Crowd) -> None:
    chance, seed = seeded()
    house.crew(2)
    for _ in range(KILLS):
        keep_busy(crowd, chance)
        time.sleep(chance.uniform(0.02, 0.8))
        victim = chance.choice(seen(lambda: to_lose(house, crowd, chance), "a worker to lose"))
        house.expire(house.kill(victim), victim)
        house.start_one()
    judge(crowd, seed, KILLS)


def test_workers_paused_past_their_lease_and_woken(house: House, crowd: Crowd) -> None:
    chance, seed = seeded()
    house.crew(2)
    taken = [pause_once(house, crowd, chance) for _ in range(PAUSES)]
    print(f"{sum(taken)} of {PAUSES} pauses lost their runs to others")
    judge(crowd, seed, PAUSES)
    assert sum(taken) > PAUSES / 2, seed


def test_a_pause_without_the_guard_is_reported(house: House, crowd: Crowd, stack: Stack) -> None:
    """The control: workers that prove no fence must be found out, or the judge sees nothing."""
    gate = secrets.token_hex(4)
    house.crew(0)
    try:
        for _ in range(2):
            house.start_one(("-m", "tests.faults.unguarded"))
        lost, other = house.crew(2)
        house.rest(other)
        for _ in range(4):
            crowd.ask(f"hold: {gate}\n{LOOKING}")
        until(lambda: stack.held(gate) == 4, "the model is answering")
        house.rest(lost)
        house.expire(house.workers[lost], lost)
        house.resume(other)
        until(lambda: crowd.taken_over() == 4, "all are taken over")
        house.resume(lost)
        stack.release(gate)
        found = seen(lambda: [f for each in crowd.asked for f in reported(each.run_id)], "a fault")
        crowd.wait(ENDED_S)
    finally:
        house.crew(0)
    print(f"without the guard: {found}")


def pause_once(house: House, crowd: Crowd, chance: random.Random) -> bool:
    """Stop a worker until others have taken its runs, and wake it; whether they took any."""
    keep_busy(crowd, chance)
    time.sleep(chance.uniform(0.02, 0.5))
    victim = chance.choice(seen(lambda: to_lose(house, crowd, chance), "a worker to pause"))
    process = house.workers[victim]
    house.rest(victim)
    held = RunClaim.objects.filter(owner__contains=f":{process.pid}:", state="running")
    runs = set(held.values_list("run_id", flat=True))
    house.expire(process, victim)
    others = RunClaim.objects.filter(run_id__in=runs).exclude(owner__contains=f":{process.pid}:")
    if runs:
        until(others.exists, "somebody takes them over")
    house.resume(victim)
    return bool(runs)


def reported(run_id: UUID) -> list[str]:
    """Violations that no later entry can heal."""
    return [fault for fault in violations(run_id) if "twice" in fault or "after its" in fault]


def test_connections_cut_and_a_broker_emptied_and_away(house: House, crowd: Crowd) -> None:
    chance, seed = seeded()
    house.crew(2, lease_s=LEASE_S)

    def harm() -> None:
        keep_busy(crowd, chance)
        time.sleep(chance.uniform(0.05, 1.0))
        match chance.choice(["cut", "flush", "flush"]):
            case "cut":
                house.cut_connections()
            case "flush":
                house.broker.flush()

    faults = breaking(harm, min(BREAKING_S, 60))
    house.broker.stop()
    for _ in range(3):
        keep_busy(crowd, chance)
        time.sleep(BROKER_AWAY_S / 3)
    house.broker.start()
    judge(crowd, seed, faults)


def test_a_database_that_crashes_again_and_again(house: House, crowd: Crowd) -> None:
    chance, seed = seeded()
    backend = own_backend()
    house.crew(2, lease_s=LEASE_S)

    def harm() -> None:
        patiently(lambda: keep_busy(crowd, chance))
        time.sleep(chance.uniform(5, 20))
        # One backend killed makes the server end all others and recover from its log.
        os.kill(patiently(backend), signal.SIGKILL)
        time.sleep(1)
        connection.close()

    faults = breaking(harm, min(BREAKING_S, 300))
    patiently(crowd.open_runs)
    judge(crowd, seed, faults)


def own_backend() -> Callable[[], int]:
    """Finds a process of the database server; skips unless the server is this run's own."""

    def backend() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return int(cursor.fetchone()[0])

    home = os.environ.get("KAIZEN_HOME", "")
    try:
        parent = Path(f"/proc/{backend()}/stat").read_text().rsplit(")", 1)[1].split()[1]
        command = Path(f"/proc/{parent}/cmdline").read_text()
    except OSError:
        command = ""
    if not home or home not in command:
        pytest.skip("the database is not the one this run started; it may be somebody else's")
    return backend


def patiently(work: Callable[[], Answer]) -> Answer:
    """Do it; while the database is recovering, again."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return work()
        except DatabaseError:
            connection.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


@pytest.mark.parametrize("forgetful", [False, True])
def test_people_who_watch_see_everything_once_in_order(
    house: House, crowd: Crowd, forgetful: bool
) -> None:
    """With `forgetful` watchers it is the control: the same run must then report faults."""
    chance, seed = seeded()
    bound_s = 20 if forgetful else BREAKING_S
    house.crew(1, lease_s=LEASE_S)
    _, token = tokens.create(actor=crowd.member, name="watching", scope=TokenScope.READ, days=1)
    conversations = []
    for number in range(20):
        accepted = crowd.ask(SCRIPTS[number % len(SCRIPTS)])
        conversations.append(replay.of_run(accepted.run_id)[0].stream_id)
    with (
        web_process(house.broker.url, environment()) as one,
        web_process(house.broker.url, environment()) as two,
    ):
        watchers = [
            Watcher(each, token, [one.port, two.port], random.Random(f"{seed}{each}"), forgetful)
            for each in conversations
        ]
        stop = threading.Event()
        watching = threading.Thread(target=lambda: asyncio.run(watch_until(watchers, stop)))
        watching.start()

        def harm() -> None:
            for each in conversations:
                if chance.random() < 0.3 and len(crowd.open_runs()) < TURNS_AT_ONCE:
                    crowd.ask(chance.choice(SCRIPTS), each)
            match chance.choice(["web", "flush", "broker", "worker", "nothing"]):
                case "web":
                    chance.choice([one, two]).restart()
                case "flush":
                    house.broker.flush()
                case "broker":
                    house.broker.stop()
                    time.sleep(chance.uniform(0, 4))
                    house.broker.start()
                case "worker":
                    house.kill(next(iter(house.workers)))
                    house.start_one()
                case "nothing":
                    time.sleep(1)

        faults = breaking(harm, bound_s)
        crowd.wait(ENDED_S)
        stop.set()
        watching.join(60)
        assert not watching.is_alive(), f"somebody never saw the end, {seed}"
    seen = [fault for watcher in watchers for fault in watcher.faults()]
    reconnects = sum(watcher.connections for watcher in watchers)
    print(f"{reconnects} connections, {sum(len(w.seen) for w in watchers)} frames, {seed}")
    if forgetful:
        assert seen, "the control reported nothing, so the test proves nothing"
    else:
        assert seen == [], seed
        judge(crowd, seed, faults)


async def watch_until(watchers: list[Watcher], stop: threading.Event) -> None:
    """Watch for ever; once told to stop, until each has seen its conversation's last entry."""
    endless = [asyncio.create_task(watcher.watch(2**62)) for watcher in watchers]
    await asyncio.to_thread(stop.wait)
    for task in endless:
        task.cancel()
    await asyncio.gather(*endless, return_exceptions=True)
    heads = await asyncio.to_thread(last_positions, watchers)
    for watcher, head in zip(watchers, heads, strict=True):
        await watcher.watch(head)


def last_positions(watchers: list[Watcher]) -> list[int]:
    found = [
        Entry.objects.filter(stream_id=watcher.conversation_id)
        .order_by("-position")
        .values_list("position", flat=True)[0]
        for watcher in watchers
    ]
    connection.close()
    return found

"""Telling a running turn something, on the running product, and in races for its end."""

import random
import secrets
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import close_old_connections, transaction
from django.db.models.functions import Now

from agents.conversations import inputs, steers
from agents.conversations.inputs import Accepted
from agents.conversations.models import Input, Steer
from agents.definitions import bundling
from agents.engine.effects import Settle, Terminal
from agents.journal import replay
from agents.journal.models import Entry
from agents.members.models import Member
from agents.turns import answers, steering
from agents.turns.admission import Admitted
from agents.turns.answers import Pending, Spent
from agents.turns.models import Turn
from audit.refusals import Conflict
from tests.patience import until
from tests.turns.conftest import Desk
from tools.boundary.contract import RunIdentity
from tools.effects.claims import Claim, LeaseLost
from tools.effects.models import RunClaim

stack = pytest.mark.stack


def tell(desk: Desk, asked: Accepted, text: str) -> steers.Accepted:
    return steers.accept(
        member=desk.member,
        conversation_id=desk.conversation.id,
        turn_id=asked.run_id,
        message=text,
        key=secrets.token_hex(8),
    )


def told_while_held(desk: Desk, script: str, *texts: str) -> Accepted:
    """A turn that was told something while its model waited at the gate of the script."""
    gate = secrets.token_hex(8)
    asked = desk.ask(script.format(gate=gate))
    until(lambda: desk.stack.held(gate), "the model waits")
    for text in texts:
        tell(desk, asked, text)
    desk.stack.release(gate)
    return asked


def after_start(desk: Desk, asked: Accepted) -> list[str]:
    kinds = desk.kinds(asked)
    return kinds[kinds.index("agent_run_started") + 1 :]


LOOKING = 'hold: {gate}\ncall: search_about {{"question": "limits"}}\nthen:\nsay: Draft.\n'


@stack
@pytest.mark.req("INP-003", "INP-004")
def test_what_a_turn_is_told_while_a_tool_runs_is_heard_before_its_next_step(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    asked = told_while_held(desk, LOOKING, "As a list.", f"say: {mark}\n")
    assert desk.ended(asked).kind == "agent_run_completed"
    assert after_start(desk, asked) == [
        *["steer_accepted"] * 2,
        *["tool_started", "tool_ended", "sources"],
        *["steer_applied"] * 2,
        *["assistant_message", "agent_run_completed"],
    ]
    sent = desk.requests(mark)[-1]["messages"]
    assert [message["role"] for message in sent[1:]] == [
        "user",
        "assistant",
        "tool",
        "user",
        "user",
    ]
    assert [message["content"] for message in sent[-2:]] == ["As a list.", f"say: {mark}\n"]


@stack
@pytest.mark.req("INP-003")
def test_what_a_turn_is_told_during_its_last_step_makes_another(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    asked = told_while_held(desk, "say: First.\nhold: {gate}\n", f"say: {mark}\n")
    assert desk.ended(asked).kind == "agent_run_completed"
    assert after_start(desk, asked) == [
        "steer_accepted",
        "assistant_message",
        "steer_applied",
        "assistant_message",
        "agent_run_completed",
    ]
    texts = [e.data["text"] for e in desk.entries(asked) if e.kind == "assistant_message"]
    assert texts == ["First.", mark]
    sent = desk.requests(mark)[-1]["messages"]
    assert [message["role"] for message in sent[1:]] == ["user", "assistant", "user"]


@stack
@pytest.mark.req("INP-003")
def test_a_turn_that_is_stopped_says_what_it_never_heard(desk: Desk) -> None:
    gate = secrets.token_hex(8)
    asked = desk.ask(f"hold: {gate}\n")
    until(lambda: desk.stack.held(gate), "the model waits")
    told = tell(desk, asked, "Shorter.")
    desk.stop()
    desk.ended(asked)
    assert after_start(desk, asked) == ["steer_accepted", "steer_rejected", "agent_run_cancelled"]
    assert Steer.objects.get(id=told.steer_id).reason == "stopped"


@stack
@pytest.mark.req("INP-003", "INP-019")
def test_what_a_lost_worker_was_told_is_heard_once_by_the_next(desk: Desk) -> None:
    gate, mark = secrets.token_hex(8), secrets.token_hex(8)
    asked = desk.ask(f"say: First.\nhold: {gate}\n")
    until(lambda: desk.stack.held(gate), "the model waits")
    tell(desk, asked, f"say: {mark}\n")
    desk.stack.kill("worker")
    RunClaim.objects.filter(run_id=asked.run_id).update(lease_until=Now())
    desk.stack.start_worker()
    desk.stack.release(gate)
    assert desk.ended(asked).kind == "agent_run_completed"
    assert desk.kinds(asked).count("steer_applied") == 1
    assert desk.entries(asked)[-2].data["text"] == mark


RUNS, EACH = 30, 10


@pytest.fixture
def ground(committed_db: None) -> None:
    """The bundled agents, for good."""
    for bundle in bundling.shipped():
        bundling.reconcile(bundle)


class Race:
    """One turn that is told things by one thread, worked, taken over and ended by another."""

    def __init__(self, member: Member, seed: int) -> None:
        self._member = member
        self._dice = random.Random(seed)
        self.refused = 0
        self.told: list[UUID] = []
        self._fence = 0
        with transaction.atomic():  # no other worker ever finds the run
            self._identity = self._begun(member)
            self._take_over()

    def _begun(self, member: Member) -> RunIdentity:
        conversation = inputs.open_conversation(member=member)
        self.accepted = inputs.accept(
            member=member,
            conversation_id=conversation.id,
            message=inputs.Message("Hello"),
            key=secrets.token_hex(8),
        )
        row = Input.objects.get(id=self.accepted.input_id)
        version = row.agent.versions.get(number=row.agent.head)
        Turn.objects.create(
            id=row.run_id,
            input=row,
            conversation=conversation,
            member=member,
            agent_version=version,
            snapshot={},
        )
        Input.objects.filter(id=row.id).update(status="active")
        return RunIdentity(
            run_id=row.run_id,
            fence=1,
            member_id=member.pk,
            conversation_id=conversation.id,
            agent_id=row.agent_id,
            agent_version=1,
        )

    def tell(self) -> None:
        """Tell it ten things, one after another."""
        for number in range(EACH):
            try:
                accepted = steers.accept(
                    member=self._member,
                    conversation_id=self._identity.conversation_id,
                    turn_id=self._identity.run_id,
                    message=f"{number}",
                    key=f"k{number}",
                )
            except Conflict:
                self.refused += 1
            else:
                self.told.append(accepted.steer_id)
        close_old_connections()

    def work(self) -> None:
        """Hear, be taken over, and end: as usual in two of three runs, else by a failure."""
        for _ in range(self._dice.randrange(1, 8)):
            taken = steering.take(self._turn.claim)
            if self._dice.random() < 0.3:
                late = self._turn
                self._take_over()
                with pytest.raises(LeaseLost):
                    answers.commit(late, Pending(), [], steers=taken or _none_in_particular())
                continue
            answers.commit(self._turn, Pending(), steers=taken)
        self._end()
        close_old_connections()

    def _end(self) -> None:
        if self._dice.random() < 0.3:
            answers.settle(self._turn, Pending(), Settle(Terminal.FAILED, "timeout"), Spent())
            return
        while True:
            try:
                answers.settle(self._turn, Pending(), Settle(Terminal.COMPLETED), Spent())
                return
            except steering.SteersWaiting:
                answers.commit(self._turn, Pending(), steers=steering.take(self._turn.claim))

    def _take_over(self) -> None:
        self._fence += 1
        RunClaim.objects.filter(run_id=self.accepted.run_id).update(
            state="running", fence=self._fence, lease_until=Now() + timedelta(minutes=5)
        )
        claim = Claim(self.accepted.run_id, self._fence, self._fence)
        self._turn = _admitted(self.accepted, claim, self._identity)

    def entries(self, kind: str) -> list[Entry]:
        return [entry for entry in replay.of_run(self.accepted.run_id) if entry.kind == kind]


def _none_in_particular() -> list[steering.Steer]:
    return [steering.Steer(UUID(int=0), 0, "")]


def _admitted(accepted: Accepted, claim: Claim, identity: RunIdentity) -> Admitted:
    values: dict[str, Any] = {
        "claim": claim,
        "identity": identity,
        "input_id": accepted.input_id,
        "accepted_at": None,
        "member_principal": f"member:{identity.member_id}",
        "member_name": "Alice",
        "time_zone": "UTC",
        "persona": "",
        "version_digest": "",
        "connection": None,
        "history_characters": 0,
        "offered": {},
    }
    return Admitted(**values)


@pytest.mark.req("INP-002", "INP-003")
def test_of_300_messages_each_is_heard_once_in_order_or_refused_once(
    ground: None, alice: Member
) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    races = [Race(alice, seed + number) for number in range(RUNS)]
    with ThreadPoolExecutor(4) as pool:
        for race in races:
            both = [pool.submit(race.tell), pool.submit(race.work)]
            for each in both:
                each.result()
    outcomes: Counter[str] = Counter()
    for race in races:
        states = dict(Steer.objects.filter(run_id=race.accepted.run_id).values_list("id", "state"))
        applied = [entry.data["steer_id"] for entry in race.entries("steer_applied")]
        rejected = [entry.data["steer_id"] for entry in race.entries("steer_rejected")]
        announced = [entry.data["steer_id"] for entry in race.entries("steer_accepted")]
        assert announced == [str(each) for each in race.told]
        assert sorted(applied + rejected) == sorted(announced)
        assert applied == [each for each in announced if each in applied]
        assert {str(each) for each, state in states.items() if state == "applied"} == set(applied)
        assert set(states.values()) <= {"applied", "rejected"}
        outcomes.update(applied=len(applied), rejected=len(rejected), refused=race.refused)
    assert sum(outcomes.values()) == RUNS * EACH
    assert min(outcomes["applied"], outcomes["refused"]) > 0, outcomes


def test_a_guard_that_is_switched_off_is_noticed(
    ground: None, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race above would show a message that nobody heard."""
    monkeypatch.setattr(answers, "NOBODY_WAITS", "")
    race = Race(alice, 1)
    threads = [threading.Thread(target=race.tell)]
    for thread in threads:
        thread.start()
        thread.join()
    answers.settle(race._turn, Pending(), Settle(Terminal.COMPLETED), Spent())
    assert race.entries("steer_accepted")
    assert not race.entries("steer_applied") + race.entries("steer_rejected")

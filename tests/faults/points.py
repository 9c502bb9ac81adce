"""The named points at which a process is lost, and what may come of each.

`Scene.lose` brings one process to a point, does the harm there, lets others go on, and leaves the
turn for the judge. Twenty points, three kinds of harm: killed; stopped until its lease is over and
then woken; cut off from the database.
"""

import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from agents.conversations import inputs, steers
from agents.conversations.inputs import Accepted, Message
from agents.conversations.models import Input
from agents.journal import replay
from agents.journal.models import Entry
from agents.turns import decisions
from agents.turns.models import WorkerHeartbeat
from tests.faults.gates import Gate, Shut, end_sessions, shut
from tests.faults.harness import Crowd, House
from tests.patience import until
from tests.stack import ROOT, Stack
from tools.boundary import policies
from tools.boundary.models import Approval, PolicyMode

ENDED_S = 60.0
ACTOR = "member"
DROPPED = "was interrupted by a fault"  # what a worker says that leaves a run to its lease
HARMS: Final = ("kill", "pause", "cut")
COMPLETED: Final = frozenset({"agent_run_completed"})
# A write that had begun is never repeated: the turn says that its outcome is unknown.
UNKNOWN: Final = COMPLETED | {"agent_run_failed"}
STOPPED: Final = frozenset({"agent_run_cancelled"})

SAY = "say: Hello there.\n"
HOLD = "hold: {gate}\nsay: Hello there.\n"
STREAM = "say: Hello\nhold: {gate}\nsay: there.\n"
LOOK = 'call: search_about {{"question": "limits"}}\nthen:\nsay: So.\n'
WRITE = (
    'call: create_artifact {{"title": "Plan", "kind": "markdown", "content": "# Plan"}}\n'
    "then:\nsay: Saved.\n"
)
WRITE_HELD = WRITE.replace("then:\n", "then:\nhold: {gate}\n")
TERMINAL = "NEW.kind = 'agent_run_completed'"


@dataclass(frozen=True)
class Point:
    """A place in a turn, how it is reached and how the turn may end afterwards.

    `who` says whether a worker is lost there, or a process that acts for the member. `reach` waits
    until the place is reached where no gate says so; the model's own `hold` is one more gate.
    """

    name: str
    script: str = SAY
    gate: Gate | None = None
    who: str = "worker"
    way: str = "gate"  # gate | held | quiet broker
    needs: str = ""  # approval | steer | stop | compaction
    ends: frozenset[str] = COMPLETED


def _journal(kind: str, *, at_commit: bool = False) -> Gate:
    return Gate("journal_entry", f"NEW.kind = '{kind}'", at_commit=at_commit)


POINTS: Final = (
    Point(
        "input accepted before commit",
        gate=_journal("input_accepted", at_commit=True),
        who="member",
    ),
    Point("committed before publish", who="member", way="quiet broker"),
    Point(
        "published before claim",
        gate=Gate(
            "effects_runclaim", "OLD.state = 'queued' AND NEW.state = 'running'", on="UPDATE"
        ),
    ),
    Point("claimed", gate=_journal("agent_run_started", at_commit=True)),
    Point("before model request", HOLD, way="held"),
    Point("inside the model stream", STREAM, way="held"),
    Point(
        "tool call journaled",
        LOOK,
        gate=Gate("audit_event", "NEW.action IN ('tool_called', 'tool_authorised')"),
        ends=UNKNOWN,  # what cannot be recorded is closed, not done
    ),
    Point(
        "approval recorded",
        WRITE,
        gate=Gate("boundary_approval", "NEW.state = 'approved'", on="UPDATE"),
        who="member",
        needs="approval",
    ),
    Point("effect intent committed", WRITE, gate=Gate("artifacts_artifact"), ends=UNKNOWN),
    Point(
        "effect done before its result is stored", WRITE, gate=_journal("tool_ended"), ends=UNKNOWN
    ),
    Point("result stored", WRITE_HELD, way="held"),
    Point(
        "artifact append",
        WRITE,
        gate=Gate("artifacts_artifactversion", at_commit=True),
        ends=UNKNOWN,
    ),
    Point("before terminal commit", gate=Gate("journal_entry", TERMINAL, at_commit=True)),
    Point("after terminal commit before the doorbell", way="quiet broker"),
    Point(
        "lease renewal",
        HOLD,
        gate=Gate(
            "effects_runclaim",
            "OLD.state = 'running' AND NEW.state = 'running' AND OLD.fence = NEW.fence",
            on="UPDATE",
        ),
    ),
    Point("cancel", STREAM, gate=_journal("agent_run_cancelled"), needs="stop", ends=STOPPED),
    Point(
        "steer claim",
        STREAM,
        gate=Gate("conversations_steer", "NEW.state = 'claimed'", on="UPDATE"),
        needs="steer",
    ),
    Point("compaction", gate=_journal("compaction"), needs="compaction"),
    Point("audit insert", gate=Gate("audit_event", "NEW.action = 'turn_ended'")),
    Point("before broker ack", STREAM, way="quiet broker"),
)


@dataclass
class Scene:
    """Two workers, a member's turn, and the process that will be lost."""

    house: House
    crowd: Crowd
    stack: Stack
    gate: str = field(default_factory=lambda: secrets.token_hex(4))
    conversation: UUID = field(init=False)
    key: str = field(default_factory=lambda: secrets.token_hex(8))

    def __post_init__(self) -> None:
        self.lost, *self.others = self.house.crew(2)
        for name in self.others:
            self.house.rest(name)
        self.conversation = inputs.open_conversation(member=self.crowd.member).id

    def lose(self, point: Point, harm: str) -> None:
        """Bring the process to the point, harm it there and wait for the end of the turn."""
        with _policy(point), self._quiet(point), _gate(self, point) as closed:
            self._begin(point)
            self._reach(point, closed)
            getattr(self, f"_{harm}")(point, closed)
            self._again(point)
            self._let_go()
        self.crowd.wait(ENDED_S)

    def last(self) -> Entry:
        """The terminal of the turn under test."""
        return replay.of_run(self.crowd.asked[-1].run_id)[-1]

    def _begin(self, point: Point) -> None:
        """Everything up to the act that leads to the point."""
        script = point.script.format(gate=self.gate)
        if point.who == "member" and not point.needs:
            self._act("accept", str(self.conversation), self.key, script)
            return
        if point.needs == "compaction":
            self.crowd.ask("say: Something to sum up.\n", self.conversation)
            self.crowd.wait(ENDED_S)
            key = secrets.token_hex(8)
            asked = inputs.compact(
                member=self.crowd.member, conversation_id=self.conversation, key=key
            )
            self.crowd.asked.append(asked)
            return
        asked = self.crowd.ask(script, self.conversation)
        if point.needs == "approval":
            until(lambda: self._question(asked) is not None, "the member is asked")
            row = self._question(asked)
            assert row is not None
            self._act("approve", str(row.id), row.digest)
        elif point.needs in ("steer", "stop"):
            until(lambda: self.stack.held(self.gate) > 0, "the model is answering")
            self._interfere(point, asked)

    def _interfere(self, point: Point, asked: Accepted) -> None:
        member = self.crowd.member
        if point.needs == "stop":
            inputs.stop(member=member, conversation_id=self.conversation)
            return
        steers.accept(
            member=member,
            conversation_id=self.conversation,
            turn_id=asked.run_id,
            message="Shorter, please.",
            key=secrets.token_hex(8),
        )
        self.stack.release(self.gate)

    def _reach(self, point: Point, closed: Shut | None) -> None:
        if closed is not None:
            until(closed.is_waited_at, f"a process waits at: {point.name}")
        elif point.way == "held" or "hold" in point.script:
            until(lambda: self.stack.held(self.gate) > 0, "the model is answering")
        elif point.who == "member":
            inputs_ = Input.objects.filter(idempotency_key=self.key)
            until(inputs_.exists, "the message is accepted")
        else:
            until(lambda: not self.crowd.open_runs(), "the terminal is committed")

    def _kill(self, point: Point, closed: Shut | None) -> None:
        name = self._victim(point)
        dead = self.house.kill(name)
        self._open(closed)
        self.house.expire(dead, name)
        self._wake(point)
        if point.who == "worker":
            self.house.start_one()

    def _pause(self, point: Point, closed: Shut | None) -> None:
        """Stopped inside a transaction the server ends it after its time; here that is at once."""
        name = self._victim(point)
        process = self.house.workers[name]
        self.house.pause(name)
        end_sessions(self.house.application(name))
        self._open(closed)
        self.house.expire(process, name)
        self._wake(point)
        if point.who == "member":
            return
        self.crowd.wait(ENDED_S)
        before = WorkerHeartbeat.objects.get(owner__contains=f":{process.pid}:")
        self.house.resume(name)
        until(lambda: _has_beaten_since(before), "the woken worker is back")

    def _cut(self, point: Point, closed: Shut | None) -> None:
        name = self._victim(point)
        process = self.house.workers[name]
        dropped = [self.house.said(name, DROPPED)]
        assert end_sessions(self.house.application(name)) > 0 or point.who == "member"
        self._open(closed)
        self._wake(point)
        if point.who == "worker":
            # What it dropped waits for its lease, which is let run out once for each.
            until(lambda: self._settles(process, name, dropped), "the turn goes on", ENDED_S)

    def _settles(self, process: "subprocess.Popen[bytes]", name: str, dropped: list[int]) -> bool:
        if not self.crowd.open_runs():
            return True
        count = self.house.said(name, DROPPED)
        if count > dropped[0]:
            dropped[0] = count
            self.house.expire(process, name)
        return False

    def _open(self, closed: Shut | None) -> None:
        if closed is not None:
            closed.open()
        self.stack.release(self.gate)
        if self.house.broker.process is not None:
            self.house.broker.process.send_signal(signal.SIGCONT)

    def _wake(self, point: Point) -> None:
        for name in self.others:
            self.house.resume(name)

    def _victim(self, point: Point) -> str:
        return ACTOR if point.who == "member" else self.lost

    def _act(self, *words: str) -> None:
        """Start the member's process; it is lost or ends by itself."""
        act, *more = words
        self.house.workers[ACTOR] = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.acting", act, str(self.crowd.member.pk), *more],
            cwd=ROOT,
            env={
                **self.house.environment,
                "REDIS_URL": self.house.broker.url,
                "PGAPPNAME": self.house.application(ACTOR),
            },
            stderr=subprocess.DEVNULL,
        )

    def _again(self, point: Point) -> None:
        """The member does the same once more, as a browser does that got no answer."""
        if point.who != "member":
            return
        if point.needs == "approval":
            row = Approval.objects.get(run_id=self.crowd.asked[-1].run_id)
            decisions.decide(
                member=self.crowd.member,
                approval_id=row.id,
                decision="approve",
                digest=row.digest,
            )
        elif not self.crowd.asked:
            script = point.script.format(gate=self.gate)
            self.crowd.asked.append(
                inputs.accept(
                    member=self.crowd.member,
                    conversation_id=self.conversation,
                    message=Message(script),
                    key=self.key,
                )
            )
        assert Input.objects.filter(conversation_id=self.conversation).count() == 1

    def _let_go(self) -> None:
        """The member's process, if it still lives, goes on to its end."""
        if process := self.house.workers.pop(ACTOR, None):
            process.send_signal(signal.SIGCONT)
            process.wait()

    def _question(self, asked: Accepted) -> Approval | None:
        return Approval.objects.filter(run_id=asked.run_id, state="pending").first()

    @contextmanager
    def _quiet(self, point: Point) -> Iterator[None]:
        """A broker that takes messages and answers nothing."""
        broker = self.house.broker.process
        if point.way == "quiet broker" and broker is not None:
            broker.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            if broker is not None:
                broker.send_signal(signal.SIGCONT)


def _gate(scene: Scene, point: Point) -> "contextmanager[Shut | None]":
    return shut(point.gate, scene.house.application(scene._victim(point)))


@contextmanager
def _policy(point: Point) -> Iterator[None]:
    """Calls that write are to be approved, where the point needs a question."""
    if point.needs != "approval":
        yield
        return
    policies.decide(actor="system:tests", family="artifacts", mode=PolicyMode.APPROVAL)
    try:
        yield
    finally:
        policies.decide(actor="system:tests", family="artifacts", mode=PolicyMode.ON)


def _has_beaten_since(before: WorkerHeartbeat) -> bool:
    return WorkerHeartbeat.objects.filter(owner=before.owner, seen_at__gt=before.seen_at).exists()

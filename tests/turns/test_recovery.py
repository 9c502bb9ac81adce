"""After a lost worker: the rebuilt events lead to the state the lost worker was in."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.engine import conduct
from agents.engine.conduct import Conduct
from agents.engine.effects import Checkpoint, RejectTools, RunTools, Settle, Terminal
from agents.engine.events import BatchSettled, Began, Checkpointed, End, Event, ModelAnswered
from agents.engine.reducer import reduce, replay
from agents.engine.sampling import Sampling
from agents.engine.state import State
from agents.journal.append import Draft, append
from agents.journal.frames import Kind
from agents.members.models import Member
from agents.turns import recovery, toolcalls
from agents.turns.admission import Admitted
from agents.turns.offers import StepOffer
from agents.turns.toolcalls import call_draft, result_drafts
from audit.reasons import ErrorClass, Reason
from tests.turns.admitting import asked, prepare, took
from tools.boundary import facts
from tools.boundary.contract import RepairDirective, ToolCall, ToolOutcome

pytestmark = pytest.mark.django_db

WORDS = st.lists(
    st.sampled_from(
        ["look", "two", "cut", "blank", "unreadable", "ends", "fails", "denied", "steer", "told"]
    ),
    max_size=8,
)


@pytest.fixture(autouse=True)
def ground() -> None:
    prepare()


class Journaled:
    """A turn driven by hand: events go to the engine and, as the host does, to the journal."""

    def __init__(self, admitted: Admitted) -> None:
        self.admitted = admitted
        self.state, self.effect = replay([Began()])
        self.conduct = Conduct()
        self.segment = 0

    def play(self, word: str) -> None:
        """One answer of the model and, where it has calls, their results."""
        if isinstance(self.effect, Checkpoint):
            self._boundary(told=word == "told")
        step = self.state.step + 1
        offer = StepOffer(f"s-{step}", dict(self.admitted.offered))
        count = {"two": 2, "blank": 0, "steer": 0}.get(word, 1)
        calls = [call_of(step, n, readable=word != "unreadable") for n in range(count)]
        end = End.TRUNCATED if word == "cut" else End.TOOL_CALLS if calls else End.COMPLETE
        requested = tuple(toolcalls.requested(call, writes=False) for call in calls)
        has_text = bool(calls) or word == "steer"
        self._see(ModelAnswered(step, has_text=has_text, calls=requested, end=end))
        if word == "steer" and self.effect == Settle(Terminal.COMPLETED):
            self._write([self._said(step), steered()])
            self._see(Checkpointed(taken=1))
        if not isinstance(self.effect, RunTools | RejectTools):
            return
        truncated = isinstance(self.effect, RejectTools)
        self._write(
            [self._said(step), *(call_draft(call, offer, truncated=truncated) for call in calls)]
        )
        outcomes = [outcome_of(call, word) for call in calls]
        for outcome in outcomes:
            self._write(result_drafts(outcome))
        results = tuple(toolcalls.settled(facts.of(outcome)) for outcome in outcomes)
        self.conduct, verdict = conduct.follow(self.conduct, requested, results)
        self._see(BatchSettled(step, results, verdict.closes))

    def _boundary(self, *, told: bool) -> None:
        if told:
            self._write([steered()])
        self._see(Checkpointed(taken=int(told)))

    def _said(self, step: int) -> Draft:
        self.segment += 1
        return Draft(
            Kind.ASSISTANT_MESSAGE,
            {"text": "x", "segment": self.segment - 1},
            {"step": step, "excluded": False},
        )

    def _see(self, event: Event) -> None:
        self.state, self.effect = reduce(self.state, event)

    def _write(self, drafts: list[Draft]) -> None:
        append(self.admitted.identity.conversation_id, drafts, claim=self.admitted.claim)


def call_of(step: int, ordinal: int, *, readable: bool = True) -> ToolCall:
    return ToolCall(
        call_id=f"c-{step}-{ordinal}",
        step=step,
        ordinal=ordinal,
        name="search_about",
        arguments={"question": "ü"} if readable else None,
        unreadable=None if readable else "not JSON",
        provider_id="p",
        step_snapshot_id=f"s-{step}",
    )


def outcome_of(call: ToolCall, word: str) -> ToolOutcome:
    done = ToolOutcome(call=call, outcome="success", model_view="{}", member_view={})
    match word:
        case "ends":
            return replace(done, outcome="error", ends_turn=Reason.AMBIGUOUS_WRITE)
        case "fails":
            directive = RepairDirective(retryable=True, locked_arguments=("question",))
            return replace(
                done, outcome="error", error_class=ErrorClass.NOT_FOUND, repair=directive
            )
        case "denied":
            return replace(done, outcome="denied", denial=Reason.POLICY_REFUSED)
    return done


def steered() -> Draft:
    return Draft(Kind.STEER_APPLIED, {"steer_id": "x"}, {"message": "Make it short"})


def rebuilt(turn: Journaled, fence: int = 1) -> recovery.Past:
    return recovery.rebuild(turn.admitted.claim.run_id, fence)


def taken_up(past: recovery.Past) -> tuple[State, Any]:
    """State and effect of a worker that takes the run up: its first boundary is still owed."""
    return replay(past.events)


@pytest.mark.req("ENG-001", "ENG-019")
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(script=WORDS)
def test_the_rebuilt_state_is_the_live_one_up_to_what_was_dropped(
    script: list[str], alice: Member
) -> None:
    turn = Journaled(took(asked(alice)))
    for word in script:
        if isinstance(turn.effect, Settle):
            break
        turn.play(word)
        past = rebuilt(turn)
        state, effect = taken_up(past)
        if word == "blank":
            continue  # not journaled: the boundary before it is owed again
        if isinstance(turn.effect, Settle) and turn.state.open_calls == () and word == "cut":
            break  # decided by an answer that was not committed: it will be asked for again
        assert without_counts(state) == without_counts(turn.state)
        assert effect == turn.effect
        assert past.conduct == turn.conduct


def without_counts(state: State) -> State:
    """Dropped answers are not journaled, so a new worker counts them from zero."""
    return replace(state, sampling=Sampling())


@pytest.mark.req("ENG-019", "REG-037")
def test_a_batch_that_was_cut_short_is_given_back_as_it_was(alice: Member) -> None:
    turn = Journaled(took(asked(alice)))
    run_id = turn.admitted.claim.run_id
    offer = StepOffer("s-1", {"search_about": turn.admitted.offered["search_about"]})
    calls = [call_of(1, n, readable=n != 1) for n in range(3)]
    turn._write([call_draft(call, offer, truncated=False) for call in calls])
    done = ToolOutcome(call=calls[2], outcome="success", model_view="{}", member_view={})
    turn._write(result_drafts(done))
    state, effect = replay(rebuilt(turn, 2).events)
    assert isinstance(effect, RunTools)
    batch = recovery.batch(run_id, 1, turn.admitted.offered)
    assert list(batch.calls) == calls
    assert batch.settled == {"c-1-2": facts.of(done)}
    assert batch.offer == offer
    assert state.open_calls == tuple(call.call_id for call in calls)


@pytest.mark.parametrize(("fence", "text"), [(1, 2), (2, 3), (4, 5)])
def test_a_new_worker_numbers_segments_beyond_what_may_have_been_shown(
    alice: Member, fence: int, text: int
) -> None:
    turn = Journaled(took(asked(alice)))
    turn.play("look")
    turn.play("look")
    assert rebuilt(turn, fence).segments == {
        "text": text,
        "thinking": fence - 1,
        "artifact": fence - 1,
    }


def test_a_turn_that_only_began_begins_again(alice: Member) -> None:
    turn = Journaled(took(asked(alice)))
    past = rebuilt(turn)
    assert past.events == (Began(),)
    assert past.segments == {"text": 0, "thinking": 0, "artifact": 0}
    assert not past.waited


def test_what_was_told_stays_with_the_run(alice: Member) -> None:
    turn = Journaled(took(asked(alice)))
    turn.play("told")
    turn.play("steer")
    past = rebuilt(turn, 2)
    assert past.steers == ("Make it short", "Make it short")
    assert past.events[-1] == Checkpointed(taken=1)


@pytest.mark.req("GRD-003")
def test_working_time_leaves_waiting_out_and_survives_a_lost_worker() -> None:
    start = datetime(2027, 1, 1, tzinfo=UTC)
    moments = [
        ("agent_run_started", start),
        ("agent_run_waiting", start + timedelta(seconds=10)),
        ("agent_run_resumed", start + timedelta(seconds=500)),
        ("agent_run_resumed", start + timedelta(seconds=540)),  # taken over from a lost worker
    ]
    assert recovery.worked_s(moments, start + timedelta(seconds=545)) == 10 + 45
    assert recovery.worked_s(moments[:2], start + timedelta(seconds=400)) == 10
    assert recovery.worked_s([], start) == 0


@pytest.mark.req("ENG-020")
def test_a_run_that_rested_is_told_from_one_that_was_lost(alice: Member) -> None:
    turn = Journaled(took(asked(alice)))
    turn._write([Draft(Kind.AGENT_RUN_WAITING, {"for": "approval"})])
    assert rebuilt(turn).waited
    turn._write([Draft(Kind.AGENT_RUN_RESUMED, {"reason": "approval_settled"})])
    assert not rebuilt(turn).waited

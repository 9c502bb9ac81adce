"""After a lost worker: the rebuilt events lead to the state the lost worker was in."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.engine.effects import RejectTools, RunTools, Settle
from agents.engine.events import (
    BatchSettled,
    Began,
    CallRequested,
    End,
    Event,
    ModelAnswered,
    ToolSettled,
)
from agents.engine.reducer import reduce, replay
from agents.engine.state import State
from agents.journal.append import Draft, append
from agents.journal.frames import Kind
from agents.members.models import Member
from agents.turns import recovery
from agents.turns.admission import Admitted
from agents.turns.toolcalls import call_draft, result_drafts
from tests.turns.admitting import asked, prepare, took
from tools.boundary.contract import ToolCall, ToolOutcome

pytestmark = pytest.mark.django_db

WORDS = st.lists(st.sampled_from(["look", "two", "cut", "blank", "unreadable", "ends"]), max_size=8)


@pytest.fixture(autouse=True)
def ground() -> None:
    prepare()


class Journaled:
    """A turn driven by hand: events go to the engine and, as the host does, to the journal."""

    def __init__(self, admitted: Admitted) -> None:
        self.admitted = admitted
        self.events: list[Event] = [Began()]
        self.state, self.effect = replay(self.events)
        self.segment = 0

    def play(self, word: str) -> None:
        """One answer of the model and, where it has calls, their results."""
        step = self.state.step + 1
        count = {"two": 2, "blank": 0}.get(word, 1)
        calls = [self._call(step, n, readable=word != "unreadable") for n in range(count)]
        end = End.TRUNCATED if word == "cut" else End.TOOL_CALLS if calls else End.COMPLETE
        requested = tuple(CallRequested(c.call_id, c.name, c.unreadable is None) for c in calls)
        self._see(ModelAnswered(step, has_text=bool(calls), calls=requested, end=end))
        if not isinstance(self.effect, RunTools | RejectTools):
            return
        drafts = [
            Draft(Kind.ASSISTANT_MESSAGE, {"text": "x", "segment": self.segment}, {"step": step})
        ]
        truncated = isinstance(self.effect, RejectTools)
        drafts += [call_draft(call, self.admitted, truncated=truncated) for call in calls]
        self._write(drafts)
        self.segment += 1
        ends_turn = "ambiguous_write" if word == "ends" else ""
        for call in calls:
            outcome = ToolOutcome(call=call, outcome="success", model_view="{}", member_view={})
            drafts = result_drafts(replace(outcome, ends_turn=ends_turn or None))
            self._write(drafts)
        results = tuple(ToolSettled(call.call_id, "success", ends_turn) for call in calls)
        self._see(BatchSettled(step, results))

    def _call(self, step: int, ordinal: int, *, readable: bool) -> ToolCall:
        return ToolCall(
            call_id=f"c-{step}-{ordinal}",
            step=step,
            ordinal=ordinal,
            name="search_about",
            arguments={"question": "ü"} if readable else None,
            unreadable=None if readable else "not JSON",
            provider_id="p",
        )

    def _see(self, event: Event) -> None:
        self.events.append(event)
        self.state, self.effect = reduce(self.state, event)

    def _write(self, drafts: list[Draft]) -> None:
        append(self.admitted.identity.conversation_id, drafts, claim=self.admitted.claim)


def rebuilt(turn: Journaled, fence: int = 1) -> tuple[State, Any]:
    events, _ = recovery.rebuild(turn.admitted.claim.run_id, fence)
    return replay(events)


@pytest.mark.req("ENG-001", "ENG-019")
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(script=WORDS)
def test_the_rebuilt_state_is_the_live_one_up_to_uncommitted_blanks(
    script: list[str], alice: Member
) -> None:
    turn = Journaled(took(asked(alice)))
    for word in script:
        if isinstance(turn.effect, Settle):
            break
        turn.play(word)
        state, effect = rebuilt(turn)
        if isinstance(turn.effect, Settle) and word != "ends":
            break  # decided by an answer that was not committed: it will be asked for again
        assert without_blanks(state) == without_blanks(turn.state)
        assert effect == turn.effect


def without_blanks(state: State) -> State:
    """Blank answers are not journaled, so a new worker counts them from zero."""
    return replace(state, empty_for_payload=0, empty_in_a_row=0)


def test_a_batch_that_was_cut_short_is_given_back_as_it_was(alice: Member) -> None:
    turn = Journaled(took(asked(alice)))
    run_id = turn.admitted.claim.run_id
    calls = [turn._call(1, n, readable=n != 1) for n in range(3)]
    turn._write([call_draft(call, turn.admitted, truncated=False) for call in calls])
    done = ToolOutcome(call=calls[2], outcome="success", model_view="{}", member_view={})
    turn._write(result_drafts(done))
    events, _ = recovery.rebuild(run_id, 2)
    state, effect = replay(events)
    assert isinstance(effect, RunTools)
    batch = recovery.batch(run_id, 1)
    assert list(batch.calls) == calls
    assert batch.settled == {"c-1-2": ToolSettled("c-1-2", "success", "")}
    assert state.open_calls == tuple(call.call_id for call in calls)


@pytest.mark.parametrize(("fence", "text"), [(1, 2), (2, 3), (4, 5)])
def test_a_new_worker_numbers_segments_beyond_what_may_have_been_shown(
    alice: Member, fence: int, text: int
) -> None:
    turn = Journaled(took(asked(alice)))
    turn.play("look")
    turn.play("look")
    _, segments = recovery.rebuild(turn.admitted.claim.run_id, fence)
    assert segments == {"text": text, "thinking": fence - 1}


def test_a_turn_that_only_began_begins_again(alice: Member) -> None:
    turn = Journaled(took(asked(alice)))
    events, segments = recovery.rebuild(turn.admitted.claim.run_id, 1)
    assert (events, segments) == ((Began(),), {"text": 0, "thinking": 0})

"""The reducer: one effect per event, bounds, and a table that refuses what cannot happen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.engine import bounds
from agents.engine.effects import (
    CallModel,
    Checkpoint,
    Compact,
    Effect,
    Intent,
    Nudge,
    RejectTools,
    RunTools,
    Settle,
    Terminal,
    Wait,
)
from agents.engine.events import (
    BatchParked,
    BatchSettled,
    Began,
    CallRequested,
    Checkpointed,
    Compacted,
    End,
    Event,
    LimitReached,
    ModelAnswered,
    StopRequested,
    ToolSettled,
)
from agents.engine.reducer import reduce, replay
from agents.engine.state import TRANSITIONS, IllegalEvent, Phase, State

LOOK = CallRequested("c1", "search_about")
SAVE = CallRequested("c2", "create_artifact")
EMPTY = Settle(Terminal.FAILED, "provider_empty_response_exhausted")


def answer(step: int = 1) -> ModelAnswered:
    return ModelAnswered(step, has_text=True, calls=(), end=End.COMPLETE)


def asks(step: int, *calls: CallRequested, end: End = End.TOOL_CALLS) -> ModelAnswered:
    return ModelAnswered(step, has_text=False, calls=calls, end=end)


def blank(step: int = 1, payload: str = "p", end: End = End.COMPLETE) -> ModelAnswered:
    return ModelAnswered(step, has_text=False, calls=(), end=end, payload=payload)


def settled(step: int, *calls: CallRequested, closes: str = "") -> BatchSettled:
    results = tuple(ToolSettled(call.call_id, "success") for call in calls)
    return BatchSettled(step, results, closes)


def tool_step(step: int, *calls: CallRequested) -> list[Event]:
    """A step with calls, and the boundary after it."""
    return [asks(step, *calls), settled(step, *calls), Checkpointed()]


BEGUN: list[Event] = [Began(), Checkpointed()]


def owed(*events: Event) -> Effect | Intent | None:
    """What is to be done after a turn's first boundary and some events."""
    return replay([*BEGUN, *events])[1]


@pytest.mark.req("ENG-001")
def test_a_plain_answer_completes_the_turn() -> None:
    assert replay([Began()])[1] == Checkpoint(1)
    assert owed() == CallModel(1)
    assert owed(answer()) == Settle(Terminal.COMPLETED)


@pytest.mark.req("ENG-002")
def test_two_tool_steps_come_before_the_answer_each_after_a_boundary() -> None:
    past = [*tool_step(1, LOOK), *tool_step(2, SAVE)]
    assert [owed(*past[: n + 1]) for n in range(len(past))] == [
        RunTools(1, (LOOK,)),
        Checkpoint(2),
        CallModel(2),
        RunTools(2, (SAVE,)),
        Checkpoint(3),
        CallModel(3),
    ]
    assert owed(*past, answer(3)) == Settle(Terminal.COMPLETED)


@pytest.mark.req("ENG-003")
def test_a_cut_response_runs_none_of_its_calls_and_gets_one_follow_up() -> None:
    cut = asks(1, LOOK, SAVE, end=End.TRUNCATED)
    assert owed(cut) == RejectTools(1, (LOOK, SAVE))
    past = [cut, settled(1, LOOK, SAVE), Checkpointed()]
    assert owed(*past) == CallModel(2)
    again = asks(2, LOOK, end=End.TRUNCATED)
    assert owed(*past, again) == Settle(Terminal.FAILED, "output_truncated")


def test_cut_text_is_kept_as_a_salvaged_answer() -> None:
    cut = ModelAnswered(1, has_text=True, calls=(), end=End.TRUNCATED)
    assert owed(cut) == Settle(Terminal.SALVAGED, "output_truncated")


@pytest.mark.req("ENG-004")
def test_a_length_stop_before_anything_was_said_is_continued_once_a_turn() -> None:
    cut = blank(end=End.TRUNCATED)
    assert owed(cut) == CallModel(1, Nudge.CONTINUE)
    assert owed(cut, cut) == Settle(Terminal.FAILED, "output_truncated")
    later = [cut, *tool_step(1, LOOK), blank(2, end=End.TRUNCATED)]
    assert owed(*later) == Settle(Terminal.FAILED, "output_truncated")


@pytest.mark.req("ENG-004")
def test_a_continuation_is_counted_apart_from_blank_answers() -> None:
    cut = blank(end=End.TRUNCATED)
    assert owed(blank(), cut, blank(), blank()) == CallModel(1)


@pytest.mark.req("ENG-005", "ENG-010")
def test_one_request_is_asked_again_until_its_budget_is_spent_and_then_once_more() -> None:
    spent = [blank()] * (1 + bounds.EMPTY_RESPONSE_RETRIES)
    assert owed(*spent) == CallModel(1)
    assert owed(*spent, blank()) == EMPTY


@pytest.mark.req("ENG-012")
def test_blank_answers_in_a_row_end_the_turn_whatever_was_asked() -> None:
    row = [blank(payload=str(n)) for n in range(2 * bounds.EMPTY_RESPONSE_RETRIES)]
    assert owed(*row[:-1]) == CallModel(1)
    assert owed(*row) == EMPTY


@pytest.mark.req("ENG-010")
def test_the_budget_of_one_request_holds_when_the_bound_in_a_row_is_wider(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "EMPTY_RESPONSE_RETRIES", 4)
    assert owed(*[blank()] * 5) == CallModel(1)
    assert owed(*[blank()] * 6) == EMPTY
    assert owed(*[blank(payload=str(n)) for n in range(7)]) == CallModel(1)
    assert owed(*[blank(payload=str(n)) for n in range(8)]) == EMPTY


@pytest.mark.req("ENG-008", "ENG-013")
def test_an_answer_with_content_resets_both_counts() -> None:
    past = [blank(), blank(), blank(), *tool_step(1, LOOK), blank(2), blank(2), blank(2)]
    assert owed(*past) == CallModel(2)
    assert owed(*past, blank(2)) == EMPTY


@pytest.mark.req("ENG-015")
def test_blank_answers_use_up_no_model_step() -> None:
    past: list[Event] = []
    for step in range(1, 20):
        past += [blank(step), blank(step), *tool_step(step, LOOK)]
    state, _ = replay([*BEGUN, *past])
    assert state.step == 19


@pytest.mark.req("ENG-017")
def test_an_answer_that_runs_into_a_rule_is_dropped_and_asked_for_once_more() -> None:
    wrong = ModelAnswered(1, has_text=True, calls=(), end=End.COMPLETE, rule="written_call")
    assert owed(wrong) == CallModel(1, Nudge.RULE, "written_call")
    assert owed(wrong, answer()) == Settle(Terminal.COMPLETED)
    assert owed(wrong, wrong) == Settle(Terminal.COMPLETED)  # the limit is spent: taken as it is


@pytest.mark.req("REG-033")
def test_an_answer_without_the_required_call_is_held_back() -> None:
    early = ModelAnswered(1, has_text=True, calls=(), end=End.COMPLETE, rule="required_tool")
    assert owed(early) == CallModel(1, Nudge.REQUIRED)
    assert owed(early, early) == Settle(Terminal.FAILED, "required_tool_blocked")
    other = ModelAnswered(1, False, (LOOK,), End.TOOL_CALLS, rule="required_tool")
    assert owed(other) == CallModel(1, Nudge.REQUIRED)
    assert owed(other, other) == RunTools(1, (LOOK,))  # where the boundary refuses it for good


def test_a_provider_failure_ends_the_turn_with_its_code() -> None:
    failed = ModelAnswered(1, has_text=True, calls=(), end=End.FAILED, failure="provider_cut_off")
    assert owed(failed) == Settle(Terminal.FAILED, "provider_cut_off")


def test_a_batch_may_close_the_turn() -> None:
    past = [asks(1, SAVE), settled(1, SAVE, closes="ambiguous_write")]
    assert owed(*past) == Settle(Terminal.FAILED, "ambiguous_write")


@pytest.mark.req("BND-044", "GRD-003")
def test_tool_rounds_are_bounded_and_a_refused_batch_uses_one_up() -> None:
    past: list[Event] = []
    for step in range(1, bounds.MAX_TOOL_ROUNDS + 1):
        refused = ToolSettled("c1", "error", denial="repeat_refused")
        past += [asks(step, LOOK), BatchSettled(step, (refused,)), Checkpointed()]
    following = asks(bounds.MAX_TOOL_ROUNDS + 1, LOOK)
    assert owed(*past, following) == Settle(Terminal.FAILED, "tool_round_limit")


@pytest.mark.req("GRD-003")
def test_model_steps_are_bounded() -> None:
    steps = bounds.MAX_MODEL_STEPS
    past: list[Event] = []
    for step in range(1, steps):
        past += [answer(step), Checkpointed(taken=1)]
    assert owed(*past) == CallModel(steps)
    assert owed(*past, answer(steps), Checkpointed(taken=1)) == Settle(
        Terminal.FAILED, "step_limit"
    )


def test_a_crowded_context_is_summed_up_before_the_model_is_asked() -> None:
    assert replay([Began(), Checkpointed(crowded=True)])[1] == Compact(1)
    assert replay([Began(), Checkpointed(crowded=True), Compacted()])[1] == CallModel(1)
    past = [asks(1, LOOK), settled(1, LOOK), Checkpointed(crowded=True)]
    assert owed(*past) == Compact(2)
    assert owed(*past, Compacted(done=False)) == CallModel(2)


def test_an_ordinary_end_goes_on_for_input_that_came_in_before_it() -> None:
    assert owed(answer(), Checkpointed(taken=1)) == CallModel(2)
    with pytest.raises(IllegalEvent):
        owed(answer(), Checkpointed(taken=0))


@pytest.mark.req("ENG-020")
def test_a_batch_that_needs_a_person_waits_and_is_owed_again_on_replay() -> None:
    past = [asks(1, LOOK, SAVE)]
    assert owed(*past, BatchParked(1, ("c2",))) == Wait("approval")
    assert owed(*past) == RunTools(1, (LOOK, SAVE))
    assert owed(*past, settled(1, LOOK, SAVE)) == Checkpoint(2)


def test_only_open_calls_can_wait() -> None:
    with pytest.raises(IllegalEvent):
        owed(asks(1, LOOK), BatchParked(1, ("c2",)))


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.FINISHED])
def test_a_stop_cancels_in_every_open_phase(phase: Phase) -> None:
    state, effect = reduce(State(phase=phase), StopRequested())
    assert (state.phase, effect) == (Phase.FINISHED, Settle(Terminal.CANCELLED, "stopped"))


def test_a_limit_fails_the_turn_with_its_reason() -> None:
    assert owed(LimitReached("wall_time_exceeded")) == Settle(Terminal.FAILED, "wall_time_exceeded")


def test_results_must_answer_exactly_the_open_calls() -> None:
    with pytest.raises(IllegalEvent):
        owed(asks(1, LOOK, SAVE), settled(1, LOOK))


def test_an_answer_to_another_step_is_illegal() -> None:
    with pytest.raises(IllegalEvent):
        owed(answer(2))


@pytest.mark.parametrize("phase", list(Phase))
@pytest.mark.parametrize(
    "event",
    [
        Began(),
        Checkpointed(),
        Compacted(),
        answer(),
        settled(1, LOOK),
        BatchParked(1, ()),
        LimitReached("x"),
        StopRequested(),
    ],
)
def test_what_the_table_does_not_list_is_refused(phase: Phase, event: Event) -> None:
    if (phase, type(event)) not in TRANSITIONS:
        with pytest.raises(IllegalEvent):
            reduce(State(phase=phase), event)


def _happening(word: str, effect: Effect | Intent | None, step: int) -> Event | None:
    """What a host might report for an effect."""
    match effect:
        case Checkpoint():
            return Checkpointed(taken=word == "steer", crowded=word == "crowd")
        case Compact():
            return Compacted(done=word != "fail")
        case RunTools() | RejectTools():
            return settled(effect.step, *effect.calls, closes="x" if word == "fail" else "")
        case CallModel():
            return {
                "look": asks(step, LOOK),
                "blank": blank(step),
                "cut": asks(step, LOOK, end=End.TRUNCATED),
                "fail": ModelAnswered(step, False, (), End.FAILED, "provider_refused"),
                "rule": ModelAnswered(step, True, (), End.COMPLETE, rule="written_call"),
            }.get(word, answer(step))
        case Settle(Terminal.COMPLETED) if word == "steer":
            return Checkpointed(taken=1)
    return None


WORDS = ["say", "look", "blank", "cut", "fail", "rule", "steer", "crowd"]


@given(st.lists(st.sampled_from(WORDS), max_size=80))
def test_any_script_ends_in_at_most_one_terminal_and_replays_the_same(script: list[str]) -> None:
    events: list[Event] = [Began()]
    state, effect = replay(events)
    for word in script:
        event = _happening(word, effect, state.step + 1)
        if event is None:
            break
        events.append(event)
        state, effect = reduce(state, event)
        assert replay(events) == (state, effect)
    ended = state.phase in (Phase.ANSWERED, Phase.FINISHED)
    assert isinstance(effect, Settle) == ended

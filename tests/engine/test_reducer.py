"""The reducer: one effect per event, bounds, and a table that refuses what cannot happen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.engine import bounds
from agents.engine.effects import CallModel, RejectTools, RunTools, Settle, Terminal
from agents.engine.events import (
    BatchSettled,
    Began,
    CallRequested,
    End,
    LimitReached,
    ModelAnswered,
    StopRequested,
    ToolSettled,
)
from agents.engine.reducer import reduce, replay
from agents.engine.state import TRANSITIONS, IllegalEvent, Phase, State

LOOK = CallRequested("c1", "search_about")
SAVE = CallRequested("c2", "create_artifact")


def answer(step: int = 1) -> ModelAnswered:
    return ModelAnswered(step, has_text=True, calls=(), end=End.COMPLETE)


def asks(step: int, *calls: CallRequested, end: End = End.TOOL_CALLS) -> ModelAnswered:
    return ModelAnswered(step, has_text=False, calls=calls, end=end)


def blank(step: int = 1) -> ModelAnswered:
    return ModelAnswered(step, has_text=False, calls=(), end=End.COMPLETE)


def settled(step: int, *calls: CallRequested, ends_turn: str = "") -> BatchSettled:
    return BatchSettled(
        step, tuple(ToolSettled(call.call_id, "success", ends_turn) for call in calls)
    )


def test_a_plain_answer_completes_the_turn() -> None:
    assert replay([Began(), answer()])[1] == Settle(Terminal.COMPLETED)


def test_two_tool_steps_come_before_the_answer() -> None:
    past = [Began(), asks(1, LOOK), settled(1, LOOK), asks(2, SAVE), settled(2, SAVE)]
    effects = [replay(past[: n + 1])[1] for n in range(len(past))]
    assert effects == [
        CallModel(1),
        RunTools(1, (LOOK,)),
        CallModel(2),
        RunTools(2, (SAVE,)),
        CallModel(3),
    ]
    assert replay([*past, answer(3)])[1] == Settle(Terminal.COMPLETED)


def test_a_cut_response_runs_none_of_its_calls_and_gets_one_follow_up() -> None:
    cut = asks(1, LOOK, SAVE, end=End.TRUNCATED)
    assert replay([Began(), cut])[1] == RejectTools(1, (LOOK, SAVE))
    again = [Began(), cut, settled(1, LOOK, SAVE), asks(2, LOOK, end=End.TRUNCATED)]
    assert replay(again)[1] == Settle(Terminal.FAILED, "output_truncated")


def test_cut_text_is_kept_as_a_salvaged_answer() -> None:
    cut = ModelAnswered(1, has_text=True, calls=(), end=End.TRUNCATED)
    assert replay([Began(), cut])[1] == Settle(Terminal.SALVAGED, "output_truncated")


def test_blank_responses_are_asked_again_and_then_fail_the_turn() -> None:
    past = [Began(), *[blank()] * bounds.EMPTY_RESPONSE_RETRIES]
    assert replay(past)[1] == CallModel(1)
    assert replay([*past, blank()])[1] == Settle(
        Terminal.FAILED, "provider_empty_response_exhausted"
    )


def test_content_resets_the_count_of_blank_responses() -> None:
    past = [Began(), blank(), blank(), asks(1, LOOK), settled(1, LOOK), blank(2), blank(2)]
    assert replay(past)[1] == CallModel(2)


def test_a_provider_failure_ends_the_turn_with_its_code() -> None:
    failed = ModelAnswered(1, has_text=True, calls=(), end=End.FAILED, failure="provider_cut_off")
    assert replay([Began(), failed])[1] == Settle(Terminal.FAILED, "provider_cut_off")


def test_a_result_may_close_the_turn() -> None:
    past = [Began(), asks(1, SAVE), settled(1, SAVE, ends_turn="ambiguous_write")]
    assert replay(past)[1] == Settle(Terminal.FAILED, "ambiguous_write")


def test_tool_rounds_and_steps_are_bounded() -> None:
    past: list = [Began()]
    for step in range(1, bounds.MAX_TOOL_ROUNDS + 1):
        past += [asks(step, LOOK), settled(step, LOOK)]
    following = asks(bounds.MAX_TOOL_ROUNDS + 1, LOOK)
    assert replay([*past, following])[1] == Settle(Terminal.FAILED, "tool_round_limit")


@pytest.mark.parametrize("phase", [Phase.IDLE, Phase.SAMPLING, Phase.DISPATCHING])
def test_a_stop_cancels_in_every_open_phase(phase: Phase) -> None:
    state, effect = reduce(State(phase=phase), StopRequested())
    assert (state.phase, effect) == (Phase.FINISHED, Settle(Terminal.CANCELLED, "stopped"))


def test_a_limit_fails_the_turn_with_its_reason() -> None:
    assert replay([Began(), LimitReached("wall_time_exceeded")])[1] == Settle(
        Terminal.FAILED, "wall_time_exceeded"
    )


def test_results_must_answer_exactly_the_open_calls() -> None:
    state, _ = replay([Began(), asks(1, LOOK, SAVE)])
    with pytest.raises(IllegalEvent):
        reduce(state, settled(1, LOOK))


def test_an_answer_to_another_step_is_illegal() -> None:
    state, _ = replay([Began()])
    with pytest.raises(IllegalEvent):
        reduce(state, answer(2))


@pytest.mark.parametrize("phase", list(Phase))
@pytest.mark.parametrize(
    "event", [Began(), answer(), settled(1, LOOK), LimitReached("x"), StopRequested()]
)
def test_what_the_table_does_not_list_is_refused(phase: Phase, event: object) -> None:
    if (phase, type(event)) not in TRANSITIONS:
        with pytest.raises(IllegalEvent):
            reduce(State(phase=phase), event)


@given(st.lists(st.sampled_from(["say", "look", "blank", "cut", "fail"]), max_size=80))
def test_any_script_ends_in_at_most_one_terminal_and_replays_the_same(script: list[str]) -> None:
    events: list = [Began()]
    state, effect = replay(events)
    for word in script:
        if isinstance(effect, Settle):
            break
        step = state.step + 1
        event = {
            "say": answer(step),
            "look": asks(step, LOOK),
            "blank": blank(step),
            "cut": asks(step, LOOK, end=End.TRUNCATED),
            "fail": ModelAnswered(step, False, (), End.FAILED, "provider_refused"),
        }[word]
        events.append(event)
        state, effect = reduce(state, event)
        if isinstance(effect, RunTools | RejectTools):
            events.append(settled(effect.step, *effect.calls))
            state, effect = reduce(state, events[-1])
        assert replay(events) == (state, effect)
    assert isinstance(effect, Settle) == (state.phase is Phase.FINISHED)

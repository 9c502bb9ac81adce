"""State and event to state and effect. Deterministic: the same events give the same effects."""

from collections.abc import Sequence
from dataclasses import replace

from agents.engine import bounds
from agents.engine.effects import CallModel, Effect, RejectTools, RunTools, Settle, Terminal
from agents.engine.events import (
    BatchSettled,
    Began,
    End,
    Event,
    LimitReached,
    ModelAnswered,
    StopRequested,
)
from agents.engine.state import TRANSITIONS, IllegalEvent, Phase, State

STEP_LIMIT = "step_limit"
TOOL_ROUND_LIMIT = "tool_round_limit"
OUTPUT_TRUNCATED = "output_truncated"
EMPTY_RESPONSES = "provider_empty_response_exhausted"
STOPPED = "stopped"


def reduce(state: State, event: Event) -> tuple[State, Effect]:
    """The next state and the one effect to carry out; raises `IllegalEvent`."""
    allowed = TRANSITIONS.get((state.phase, type(event)))
    if allowed is None:
        raise IllegalEvent(f"{type(event).__name__} in phase {state.phase}")
    following, effect = _decide(state, event)
    if following.phase not in allowed:
        raise IllegalEvent(f"{type(event).__name__} led from {state.phase} to {following.phase}")
    return following, effect


def replay(events: Sequence[Event]) -> tuple[State, Effect | None]:
    """The state after the events and the effect that is still owed."""
    state, effect = State(), None
    for event in events:
        state, effect = reduce(state, event)
    return state, effect


def _decide(state: State, event: Event) -> tuple[State, Effect]:
    match event:
        case Began():
            return _sample(state)
        case ModelAnswered():
            if event.step != state.step + 1:
                raise IllegalEvent(f"answer to step {event.step}, {state.step + 1} is open")
            return _after_answer(state, event)
        case BatchSettled():
            return _after_batch(state, event)
        case LimitReached(reason):
            return _finish(state, Terminal.FAILED, reason)
        case StopRequested():
            return _finish(state, Terminal.CANCELLED, STOPPED)


def _after_answer(state: State, event: ModelAnswered) -> tuple[State, Effect]:
    if event.end is End.FAILED:
        return _finish(state, Terminal.FAILED, event.failure)
    if not event.calls and not event.has_text:
        return _after_blank(state)
    answered = replace(state, step=event.step, empty_for_payload=0, empty_in_a_row=0)
    if not event.calls:
        if event.end is End.TRUNCATED:
            return _finish(answered, Terminal.SALVAGED, OUTPUT_TRUNCATED)
        return _finish(answered, Terminal.COMPLETED)
    dispatching = replace(
        answered,
        phase=Phase.DISPATCHING,
        rounds=answered.rounds + 1,
        open_calls=tuple(call.call_id for call in event.calls),
    )
    if event.end is End.TRUNCATED:
        if state.truncations >= bounds.MAX_TRUNCATION_FOLLOW_UPS:
            return _finish(answered, Terminal.FAILED, OUTPUT_TRUNCATED)
        cut = replace(dispatching, truncations=state.truncations + 1)
        return cut, RejectTools(event.step, event.calls)
    if dispatching.rounds > bounds.MAX_TOOL_ROUNDS:
        return _finish(answered, Terminal.FAILED, TOOL_ROUND_LIMIT)
    return dispatching, RunTools(event.step, event.calls)


def _after_blank(state: State) -> tuple[State, Effect]:
    """A blank response is no step: the same payload is asked again, within both bounds."""
    blank = replace(
        state,
        empty_for_payload=state.empty_for_payload + 1,
        empty_in_a_row=state.empty_in_a_row + 1,
    )
    if (
        blank.empty_for_payload > bounds.EMPTY_RESPONSE_RETRIES
        or blank.empty_in_a_row >= 2 * bounds.EMPTY_RESPONSE_RETRIES
    ):
        return _finish(blank, Terminal.FAILED, EMPTY_RESPONSES)
    return blank, CallModel(blank.step + 1)


def _after_batch(state: State, event: BatchSettled) -> tuple[State, Effect]:
    settled = tuple(result.call_id for result in event.results)
    if event.step != state.step or settled != state.open_calls:
        raise IllegalEvent(f"results {settled} do not answer calls {state.open_calls}")
    closed = replace(state, open_calls=())
    for result in event.results:
        if result.ends_turn:
            return _finish(closed, Terminal.FAILED, result.ends_turn)
    return _sample(replace(closed, empty_for_payload=0))


def _sample(state: State) -> tuple[State, Effect]:
    if state.step >= bounds.MAX_MODEL_STEPS:
        return _finish(state, Terminal.FAILED, STEP_LIMIT)
    return replace(state, phase=Phase.SAMPLING), CallModel(state.step + 1)


def _finish(state: State, terminal: Terminal, reason: str = "") -> tuple[State, Effect]:
    return replace(state, phase=Phase.FINISHED, open_calls=()), Settle(terminal, reason)

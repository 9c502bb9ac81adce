"""State and event to state and effect. Deterministic: the same events give the same effects."""

from collections.abc import Sequence
from dataclasses import replace

from agents.engine import bounds, sampling
from agents.engine.effects import (
    CallModel,
    Checkpoint,
    Compact,
    Effect,
    Intent,
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
    Checkpointed,
    Compacted,
    End,
    Event,
    LimitReached,
    ModelAnswered,
    StopRequested,
)
from agents.engine.state import TRANSITIONS, IllegalEvent, Phase, State

STEP_LIMIT = "step_limit"
TOOL_ROUND_LIMIT = "tool_round_limit"
OUTPUT_TRUNCATED = sampling.OUTPUT_TRUNCATED
STOPPED = "stopped"
APPROVAL = "approval"


def reduce(state: State, event: Event) -> tuple[State, Effect | Intent]:
    """The next state and the one effect to carry out; raises `IllegalEvent`."""
    allowed = TRANSITIONS.get((state.phase, type(event)))
    if allowed is None:
        raise IllegalEvent(f"{type(event).__name__} in phase {state.phase}")
    following, effect = _decide(state, event)
    if following.phase not in allowed:
        raise IllegalEvent(f"{type(event).__name__} led from {state.phase} to {following.phase}")
    return following, effect


def replay(events: Sequence[Event]) -> tuple[State, Effect | Intent | None]:
    """The state after the events and the effect that is still owed."""
    state, effect = State(), None
    for event in events:
        state, effect = reduce(state, event)
    return state, effect


def _decide(state: State, event: Event) -> tuple[State, Effect | Intent]:
    match event:
        case Began():
            return _at_boundary(state)
        case Checkpointed():
            return _after_checkpoint(state, event)
        case Compacted():
            return _sample(state)
        case ModelAnswered():
            return _after_answer(state, event)
        case BatchSettled():
            return _after_batch(state, event)
        case BatchParked():
            return _after_parking(state, event)
        case LimitReached(reason):
            return _finish(state, Terminal.FAILED, reason)
        case StopRequested():
            return _finish(state, Terminal.CANCELLED, STOPPED)


def _at_boundary(state: State) -> tuple[State, Effect]:
    return replace(state, phase=Phase.BOUNDARY), Checkpoint(state.step + 1)


def _after_checkpoint(state: State, event: Checkpointed) -> tuple[State, Effect | Intent]:
    """Between two steps: input has been taken, and there may be too much of everything."""
    if state.phase is Phase.ANSWERED and not event.taken:
        raise IllegalEvent("an answered turn goes on only for input that came in meanwhile")
    if state.step >= bounds.MAX_MODEL_STEPS:
        return _finish(state, Terminal.FAILED, STEP_LIMIT)
    if event.crowded:
        return replace(state, phase=Phase.COMPACTING), Compact(state.step + 1)
    return _sample(state)


def _sample(state: State) -> tuple[State, Effect]:
    return replace(state, phase=Phase.SAMPLING), CallModel(state.step + 1)


def _after_answer(state: State, event: ModelAnswered) -> tuple[State, Effect | Intent]:
    if event.step != state.step + 1:
        raise IllegalEvent(f"answer to step {event.step}, {state.step + 1} is open")
    counted, instead = sampling.judge(state.sampling, event)
    state = replace(state, sampling=counted)
    if isinstance(instead, Settle):
        return _finish(state, instead.terminal, instead.reason)
    if instead is not None:
        return state, instead
    answered = replace(state, step=event.step)
    if not event.calls:
        reason = OUTPUT_TRUNCATED if event.end is End.TRUNCATED else ""
        terminal = Terminal.SALVAGED if reason else Terminal.COMPLETED
        return replace(answered, phase=Phase.ANSWERED), Settle(terminal, reason)
    return _dispatch(answered, event)


def _dispatch(state: State, event: ModelAnswered) -> tuple[State, Effect | Intent]:
    """Every batch uses up a round, also one that is refused."""
    dispatching = replace(
        state,
        phase=Phase.DISPATCHING,
        rounds=state.rounds + 1,
        open_calls=tuple(call.call_id for call in event.calls),
    )
    if event.end is End.TRUNCATED:
        if state.truncations >= bounds.MAX_TRUNCATION_FOLLOW_UPS:
            return _finish(state, Terminal.FAILED, OUTPUT_TRUNCATED)
        cut = replace(dispatching, truncations=state.truncations + 1)
        return cut, RejectTools(event.step, event.calls)
    if dispatching.rounds > bounds.MAX_TOOL_ROUNDS:
        return _finish(state, Terminal.FAILED, TOOL_ROUND_LIMIT)
    return dispatching, RunTools(event.step, event.calls)


def _after_batch(state: State, event: BatchSettled) -> tuple[State, Effect | Intent]:
    settled = tuple(result.call_id for result in event.results)
    if event.step != state.step or settled != state.open_calls:
        raise IllegalEvent(f"results {settled} do not answer calls {state.open_calls}")
    closed = replace(state, open_calls=())
    if event.closes:
        return _finish(closed, Terminal.FAILED, event.closes)
    return _at_boundary(closed)


def _after_parking(state: State, event: BatchParked) -> tuple[State, Intent]:
    if event.step != state.step or not set(event.waiting) <= set(state.open_calls):
        raise IllegalEvent(f"{event.waiting} are not among the calls {state.open_calls}")
    return replace(state, phase=Phase.WAITING), Wait(APPROVAL)


def _finish(state: State, terminal: Terminal, reason: str = "") -> tuple[State, Settle]:
    return replace(state, phase=Phase.FINISHED, open_calls=()), Settle(terminal, reason)

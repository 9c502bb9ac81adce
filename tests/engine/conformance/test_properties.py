"""What holds of every script, for every controller."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.engine.controllers.host import Controller
from agents.engine.controllers.tomo import Tomo
from agents.engine.effects import Settle
from agents.engine.events import BatchSettled, End, Event, ModelAnswered
from agents.engine.reducer import reduce
from agents.engine.state import State
from tests.engine.conformance.conftest import CONTROLLERS
from tests.engine.conformance.host import History, Reply, ScriptedHost

Made = Callable[[], Controller]

REPLIES = (
    Reply("A"),
    Reply(calls=("t1",)),
    Reply("B", calls=("t1", "t2")),
    Reply(calls=("t3",)),
    Reply(),
    Reply(calls=("t1",), end=End.TRUNCATED),
    Reply("half", end=End.TRUNCATED),
    Reply(end=End.FAILED, failure="provider_refused"),
)
MOMENTS = st.sampled_from(
    ["begin", "settle"]
    + [f"{what} {n}" for what in ("step", "end") for n in range(1, 6)]
    + [f"call t{n}" for n in range(1, 4)]
)


@dataclass(frozen=True)
class Script:
    """A model that says one reply after another, and then answers; tools that fail; steers."""

    replies: tuple[Reply, ...]
    fails: frozenset[str]
    steers: tuple[tuple[str, str], ...]

    def model(self) -> Callable[[History], Reply]:
        left = list(self.replies)
        return lambda history: left.pop(0) if left else Reply("done")

    def host(self, controller: Controller) -> ScriptedHost:
        steers: dict[str, tuple[str, ...]] = {}
        for moment, text in self.steers:
            steers[moment] = (*steers.get(moment, ()), text)
        return ScriptedHost(controller, self.model(), steers=steers, fails=self.fails)


def scripts(*, steers: bool) -> st.SearchStrategy[Script]:
    told = st.lists(MOMENTS, max_size=4) if steers else st.just([])
    return st.builds(
        lambda replies, fails, moments: Script(
            tuple(replies),
            frozenset(fails),
            tuple((moment, f"S{n}") for n, moment in enumerate(moments)),
        ),
        st.lists(st.sampled_from(REPLIES), max_size=12),
        st.sets(st.sampled_from(["t1", "t3"])),
        told,
    )


def played(controller: Controller, script: Script) -> ScriptedHost:
    host = script.host(controller)
    asyncio.run(host.drive())
    return host


many = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@many
@given(script=scripts(steers=False))
def test_without_steering_all_controllers_leave_the_same_trace(script: Script) -> None:
    hosts = [played(made(), script) for made in CONTROLLERS]
    assert len({tuple(host.trace) for host in hosts}) == 1
    assert len({tuple(host.history) for host in hosts}) == 1


@pytest.mark.req("ENG-002")
@many
@given(script=scripts(steers=True))
def test_every_committed_call_has_one_result_before_the_next_request(
    controller: Made, script: Script
) -> None:
    history = played(controller(), script).history
    calls = [entry.removeprefix("call ") for entry in history if entry.startswith("call ")]
    results = [entry.removeprefix("result ") for entry in history if entry.startswith("result ")]
    assert results == calls
    assert len(set(calls)) == len(calls)


@pytest.mark.req("INP-002")
@many
@given(script=scripts(steers=True))
def test_every_accepted_steer_is_applied_once_or_rejected_once(
    controller: Made, script: Script
) -> None:
    trace = played(controller(), script).trace
    accepted = [entry.split()[1] for entry in trace if entry.startswith("steer.accepted")]
    settled = [
        entry.split()[1] for entry in trace if entry.startswith(("steer.applied", "steer.rejected"))
    ]
    assert settled == accepted


@pytest.mark.req("ENG-020")
@many
@given(script=scripts(steers=True))
def test_there_is_exactly_one_terminal_and_it_comes_last(controller: Made, script: Script) -> None:
    host = played(controller(), script)
    assert len(host.terminals) == 1
    assert [entry for entry in host.trace if entry.startswith("terminal")] == host.trace[-1:]


@many
@given(script=scripts(steers=True))
def test_steps_open_and_end_in_turn(controller: Made, script: Script) -> None:
    """No step opens twice but after an answer that was dropped, and numbers only go up."""
    trace = played(controller(), script).trace
    opened = [int(entry.split()[1]) for entry in trace if entry.startswith("model.open")]
    committed = [int(entry.split()[1]) for entry in trace if entry.startswith("model.commit")]
    ended = [int(entry.split()[1]) for entry in trace if entry.startswith("end ")]
    assert sorted(set(opened)) == list(range(1, len(set(opened)) + 1))
    assert opened == sorted(opened)
    assert committed == sorted(set(committed))
    assert set(ended) <= set(committed)


@pytest.mark.req("ENG-019")
@many
@given(script=scripts(steers=True), cut=st.integers(min_value=0, max_value=60))
def test_a_worker_that_takes_over_anywhere_repeats_no_settled_call(
    controller: Made, script: Script, cut: int
) -> None:
    """Only what was committed is handed on: an answer without its result is asked for again."""
    first = played(controller(), script)
    kept = committed(first.events[: cut + 1])
    second = script.host(controller())
    second.events = kept
    asyncio.run(second.resume(second.controller))
    done = {
        result.call_id
        for event in kept
        if isinstance(event, BatchSettled)
        for result in event.results
    }
    ran = [entry for entry in second.history if entry.startswith("result ")]
    assert not {entry.removeprefix("result ") for entry in ran} & done
    assert len(second.terminals) == 1


def committed(events: list[Event]) -> list[Event]:
    """Without the answers at the end that nothing followed from."""
    while events and isinstance(events[-1], ModelAnswered):
        events = events[:-1]
    return list(events)


@pytest.mark.req("ENG-001")
@many
@given(script=scripts(steers=True))
def test_replaying_tomos_events_gives_the_same_effects(script: Script) -> None:
    host = played(Tomo(), script)
    effects = []
    for _ in range(2):
        state, seen = State(), []
        for event in host.events:
            state, effect = reduce(state, event)
            seen.append(effect)
        effects.append(seen)
    assert effects[0] == effects[1]
    assert isinstance(effects[0][-1], Settle)
    assert effects[0][-1] == host.terminals[0]

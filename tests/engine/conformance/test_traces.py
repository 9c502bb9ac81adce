"""The traces that all controllers share, and where they may differ."""

import asyncio
from collections.abc import Callable

import pytest

from agents.engine.controllers.host import Controller
from agents.engine.effects import Settle, Terminal, Wait
from tests.engine.conformance.conftest import FRESH_FIRST, LATE
from tests.engine.conformance.host import ENDLESS, History, Reply, ScriptedHost

Made = Callable[[], Controller]


def plain(history: History) -> Reply:
    return Reply("A")


def two_tools(history: History) -> Reply:
    """t1, then t2, then an answer."""
    if any(entry.startswith("result 2-") for entry in history):
        return Reply("A")
    if any(entry.startswith("result 1-") for entry in history):
        return Reply(calls=("t2",))
    return Reply(calls=("t1",))


def steered(history: History) -> Reply:
    """As `two_tools`, with another answer once the steer is seen."""
    if "S1" in history:
        return Reply("A-new")
    reply = two_tools(history)
    return Reply("A-draft") if reply.text else reply


@pytest.mark.req("ENG-020", "GW-008")
async def test_a_plain_answer(controller: Made) -> None:
    host = ScriptedHost(controller(), plain)
    assert await host.drive() == Settle(Terminal.COMPLETED)
    assert host.history == ["U1", "A"]
    assert host.trace == [
        "input.accepted U1",
        "model.open 1",
        "model.commit 1 A",
        "terminal completed",
    ]


@pytest.mark.req("ENG-002")
async def test_two_tool_steps(controller: Made) -> None:
    host = ScriptedHost(controller(), two_tools)
    await host.drive()
    assert host.history == [
        *("U1", "call 1-0-t1", "result 1-0-t1"),
        *("call 2-0-t2", "result 2-0-t2", "A"),
    ]
    assert host.trace == [
        "input.accepted U1",
        *("model.open 1", "model.commit 1 t1", "tool t1", "end 1"),
        *("model.open 2", "model.commit 2 t2", "tool t2", "end 2"),
        *("model.open 3", "model.commit 3 A", "terminal completed"),
    ]


@pytest.mark.req("INP-002")
async def test_steering_while_a_tool_runs(controller: Made) -> None:
    made = controller()
    host = ScriptedHost(made, steered, steers={"call t1": ("S1",)})
    await host.drive()
    if made.id in LATE:
        assert host.history[-4:] == ["result 2-0-t2", "A-draft", "S1", "A-new"]
        return
    assert host.history == ["U1", "call 1-0-t1", "result 1-0-t1", "S1", "A-new"]
    assert host.trace == [
        "input.accepted U1",
        *("model.open 1", "model.commit 1 t1", "tool t1", "steer.accepted S1", "end 1"),
        *("steer.applied S1", "model.open 2", "model.commit 2 A-new", "terminal completed"),
    ]


async def test_steering_during_the_last_step(controller: Made) -> None:
    answers = {False: Reply("A1"), True: Reply("A2")}
    for moment in ("step 1", "settle"):
        host = ScriptedHost(
            controller(), lambda history: answers["S1" in history], steers={moment: ("S1",)}
        )
        await host.drive()
        assert host.history == ["U1", "A1", "S1", "A2"]
        assert host.trace.count("terminal completed") == 1


async def test_steering_before_the_first_step(controller: Made) -> None:
    answers = {False: Reply("A1"), True: Reply("A2")}
    made = controller()
    host = ScriptedHost(made, lambda seen: answers["S1" in seen], steers={"begin": ("S1",)})
    await host.drive()
    late = ["U1", "A1", "S1", "A2"]
    assert host.history == (late if made.id in FRESH_FIRST else ["U1", "S1", "A2"])


@pytest.mark.req("BND-048")
async def test_an_abort_in_mid_stream(controller: Made) -> None:
    made = controller()
    host = ScriptedHost(made, lambda history: Reply(streams_for_ever=True))
    work = asyncio.create_task(host.drive())
    await host.streaming.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert host.stop() == Settle(Terminal.CANCELLED, "stopped")
    assert host.stop() == Settle(Terminal.CANCELLED, "stopped")  # pressing it again changes nothing
    assert host.history == ["U1"]
    assert host.trace == [
        "input.accepted U1",
        "model.open 1",
        "stop.accepted",
        "terminal cancelled stopped",
        "stop.accepted",
    ]


@pytest.mark.req("BND-048")
async def test_an_abort_while_a_tool_runs_leaves_its_call_without_a_result(
    controller: Made,
) -> None:
    host = ScriptedHost(controller(), lambda history: Reply(calls=(ENDLESS,)))
    work = asyncio.create_task(host.drive())
    await host.running.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    host.stop()
    assert host.history == ["U1", "call 1-0-endless"]
    assert host.terminals == [Settle(Terminal.CANCELLED, "stopped")]


async def test_a_turn_that_timed_out_has_one_terminal(controller: Made) -> None:
    made = controller()
    host = ScriptedHost(made, lambda history: Reply(streams_for_ever=True))
    work = asyncio.create_task(host.drive())
    await host.streaming.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    ended = Settle(Terminal.FAILED, "inactivity_timeout")
    assert made.inactivity_timed_out("inactivity_timeout") == ended
    assert made.abort() == ended


async def test_after_an_ordinary_end_nothing_undoes_it(controller: Made) -> None:
    made = controller()
    await ScriptedHost(made, plain).drive()
    assert made.abort() == Settle(Terminal.COMPLETED)
    assert made.inactivity_timed_out("x") == Settle(Terminal.COMPLETED)


@pytest.mark.req("ENG-019", "ENG-020")
async def test_a_call_that_needs_a_person_waits_and_another_worker_goes_on(
    controller: Made,
) -> None:
    host = ScriptedHost(controller(), two_tools, asks_for={"t2"})
    assert await host.drive() == Wait("approval")
    assert host.trace[-1] == "waiting approval"
    assert await host.resume(controller()) == Settle(Terminal.COMPLETED)
    assert host.trace.count("tool t1") == 1
    assert host.history[-3:] == ["call 2-0-t2", "result 2-0-t2", "A"]


async def test_a_circle_of_failures_ends_the_turn(controller: Made) -> None:
    host = ScriptedHost(controller(), lambda history: Reply(calls=("t1",)), fails={"t1"})
    assert await host.drive() == Settle(Terminal.FAILED, "repeated_tool_failure_exhausted")
    assert host.trace.count("tool t1") == 3


async def test_blank_answers_end_the_turn(controller: Made) -> None:
    host = ScriptedHost(controller(), lambda history: Reply())
    ended = await host.drive()
    assert ended == Settle(Terminal.FAILED, "provider_empty_response_exhausted")
    assert host.trace.count("model.open 1") == 4
    assert host.history == ["U1"]


async def test_what_a_controller_shows_of_itself_is_small_and_plain(controller: Made) -> None:
    made = controller()
    await ScriptedHost(made, two_tools).drive()
    shown = made.inspect()
    assert len(shown) <= 12
    assert all(isinstance(value, str | int | bool) for value in shown.values())

"""A turn that shows no sign of life is given up, and everything it left open is closed once."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agents.engine import bounds
from agents.journal.models import Entry
from agents.journal.offloading import in_database
from agents.turns.admission import Admitted
from agents.turns.driver import DrivenTurn, Interruption
from agents.turns.inactivity import Silence
from agents.turns.live import LivePublisher
from agents.turns.offers import StepOffer
from audit.models import AuditEvent
from tests.turns.conftest import Desk
from tests.turns.working import begun
from tools.boundary.contract import Json, ToolCall, ToolContext, ToolResult

pytestmark = pytest.mark.stack

LOOK = 'call: search_about {"question": "limits"}'
SAVE = 'call: create_artifact {"title": "Plan", "kind": "text", "content": "x"}'


class Stuck:
    """Tools that do not come back by themselves."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.begun: list[str] = []
        self.at_work = asyncio.Event()

    def within(self, admitted: Admitted) -> Admitted:
        """A run whose named tools get stuck."""
        offered = dict(admitted.offered)
        for name in self.names:
            offered[name] = replace(offered[name], execute=self._stuck(name), timeout_s=600)
        return replace(admitted, offered=offered)

    def _stuck(self, name: str) -> Callable[[ToolContext, Json], Any]:
        async def execute(context: ToolContext, arguments: Json) -> ToolResult:
            self.begun.append(name)
            self.at_work.set()
            await asyncio.Event().wait()
            raise AssertionError("never")

        return execute


# What gives a turn up from outside, and how people are told.
GIVEN_UP = [
    (Interruption.SILENCE, "inactivity_timeout"),
    (Interruption.WITHDRAWN, "agent_unavailable"),
]


async def interrupted(
    desk: Desk, publisher: LivePublisher, script: str, stuck: Stuck, why: Interruption
) -> list[Entry]:
    """The journal of a turn that was interrupted while a tool was stuck."""
    asked = await in_database(desk.ask, script)
    turn = await begun(asked, publisher, stuck.within)
    await stuck.at_work.wait()
    turn.interrupt(why)
    await turn.task
    return await in_database(desk.entries, asked)


def results(entries: list[Entry]) -> list[tuple[str, str]]:
    """Tools in the order of their calls, each with its outcome."""
    names = {
        entry.data["call_id"]: entry.data["name"]
        for entry in entries
        if entry.kind == "tool_started"
    }
    ended = {
        entry.data["call_id"]: entry.data["outcome"]
        for entry in entries
        if entry.kind == "tool_ended"
    }
    return [(name, ended[call_id]) for call_id, name in names.items() if call_id in ended]


@pytest.mark.req("BND-045", "BND-046", "BND-047")
@pytest.mark.parametrize(("why", "reason"), GIVEN_UP)
async def test_what_was_not_dispatched_never_is_and_nobody_is_asked_about_it(
    alone: Desk, publisher: LivePublisher, why: Interruption, reason: str
) -> None:
    stuck = Stuck("search_about", "create_artifact")
    script = f"{LOOK}\n{SAVE}\nthen:\nsay: Never\n"
    entries = await interrupted(alone, publisher, script, stuck, why)
    assert stuck.begun == ["search_about"]
    assert results(entries) == [("search_about", "cancelled"), ("create_artifact", "denied")]
    assert entries[-1].kind == "agent_run_failed"
    assert entries[-1].data["reason"] == reason
    rows = AuditEvent.objects.filter(run_id=entries[0].run_id, action="tool_authorised")
    assert not await in_database(rows.exists)


@pytest.mark.parametrize(("why", "reason"), GIVEN_UP)
async def test_a_change_that_was_under_way_is_said_to_be_unknown(
    alone: Desk, publisher: LivePublisher, why: Interruption, reason: str
) -> None:
    stuck = Stuck("create_artifact")
    entries = await interrupted(alone, publisher, f"{SAVE}\nthen:\nsay: Never\n", stuck, why)
    assert results(entries) == [("create_artifact", "error")]
    (ended,) = [entry for entry in entries if entry.kind == "tool_ended"]
    assert "unknown" in ended.data["result"]["message"]
    assert entries[-1].data["reason"] == reason


@pytest.mark.req("BND-048")
async def test_a_stop_settles_no_call_that_it_interrupted(
    alone: Desk, publisher: LivePublisher
) -> None:
    stuck = Stuck("search_about", "create_artifact")
    script = f"{LOOK}\n{SAVE}\nthen:\nsay: Never\n"
    entries = await interrupted(alone, publisher, script, stuck, Interruption.STOP)
    assert results(entries) == []
    assert entries[-1].kind == "agent_run_cancelled"


async def test_silence_of_the_model_fails_the_turn_and_keeps_what_was_shown(
    alone: Desk, publisher: LivePublisher
) -> None:
    gate, word = secrets.token_hex(4), secrets.token_hex(8)
    asked = await in_database(alone.ask, f"say: {word} is\nhold: {gate}\n")
    with alone.listening() as wait_for:
        turn = await begun(asked, publisher)
        await asyncio.to_thread(wait_for, word)
    turn.interrupt(Interruption.SILENCE)
    await turn.task
    await asyncio.to_thread(alone.stack.release, gate)
    entries = await in_database(alone.entries, asked)
    assert entries[-1].data["reason"] == "inactivity_timeout"
    (said,) = [entry for entry in entries if entry.kind == "assistant_message"]
    assert said.data["text"].startswith(word)
    assert said.hidden["excluded"]


@pytest.mark.req("GRD-003")
async def test_working_time_of_earlier_workers_counts(
    alone: Desk, publisher: LivePublisher
) -> None:
    def used_up(admitted: Admitted) -> Admitted:
        return replace(admitted, past=replace(admitted.past, worked_s=bounds.WALL_SECONDS))

    asked = await in_database(alone.ask, "say: Too late\n")
    turn = await begun(asked, publisher, used_up)
    await turn.task
    entries = await in_database(alone.entries, asked)
    assert (entries[-1].kind, entries[-1].data["reason"]) == (
        "agent_run_failed",
        "wall_time_exceeded",
    )


@pytest.mark.req("REG-037")
async def test_a_call_runs_only_what_its_own_step_was_offered(
    alone: Desk, publisher: LivePublisher
) -> None:
    asked = await in_database(alone.ask, "say: Hello\n")
    turn = await begun(asked, publisher)
    turn.task.cancel()
    await asyncio.wait({turn.task})
    outcomes = {}
    for n, names in enumerate([("search_about",), ("list_available_agents",)]):
        outcomes[names] = await _called(turn, n, names)
    assert outcomes == {
        ("search_about",): ("success", ""),
        ("list_available_agents",): ("denied", "tool_not_offered"),
    }


async def _called(turn: DrivenTurn, ordinal: int, names: tuple[str, ...]) -> tuple[str, str]:
    """How a call of search_about ends that came from a step which was offered these tools."""
    tools = {name: turn.admitted.offered[name] for name in names}
    offer = StepOffer(f"s-{ordinal}", tools)
    call = ToolCall(
        call_id=f"c-{ordinal}-{secrets.token_hex(4)}",
        step=1,
        ordinal=ordinal,
        name="search_about",
        arguments={"question": f"limits {ordinal}"},
        step_snapshot_id=offer.snapshot_id,
    )
    settled = await turn.host.batches.run(1, [call], offer, {})
    (result,) = settled.results
    return result.outcome, result.denial


async def test_a_sign_of_life_puts_the_end_off_and_a_wish_to_wait_is_heard() -> None:
    ended = asyncio.Event()
    silence = Silence(ended.set, allowed_s=0.05)
    silence.watch()
    silence.excused(3600)
    await asyncio.sleep(0.1)  # twice what is allowed
    assert not ended.is_set()
    silence.seen()
    await ended.wait()


async def test_a_turn_that_rests_is_not_watched() -> None:
    ended = asyncio.Event()
    silence = Silence(ended.set, allowed_s=0.01)
    silence.watch()
    silence.rest()
    await asyncio.sleep(0.05)
    assert not ended.is_set()


@pytest.mark.req("BND-012")
async def test_after_a_result_that_ends_the_turn_no_further_call_of_the_batch_runs(
    alone: Desk, publisher: LivePublisher
) -> None:
    ran: list[str] = []

    def breaks_off(admitted: Admitted) -> Admitted:
        async def execute(context: ToolContext, arguments: Json) -> ToolResult:
            ran.append(arguments["title"])
            raise RuntimeError("nobody knows whether it was done")

        tool = replace(admitted.offered["create_artifact"], execute=execute)
        return replace(admitted, offered={**admitted.offered, tool.name: tool})

    second = SAVE.replace("Plan", "Other plan")
    asked = await in_database(alone.ask, f"{SAVE}\n{second}\n{LOOK}\nthen:\nsay: Never\n")
    turn = await begun(asked, publisher, breaks_off)
    await turn.task
    entries = await in_database(alone.entries, asked)
    assert ran == ["Plan"]
    assert [outcome for _, outcome in results(entries)] == ["error", "denied", "denied"]
    assert entries[-1].data["reason"] == "ambiguous_write"

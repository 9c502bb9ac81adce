"""A call that ends takes its work in the database along."""

import asyncio
import secrets
import time
from collections.abc import Callable

import pytest
from django.db import connection

from agents.journal.offloading import in_database
from tests.patience import promised, until
from tests.tools.conftest import Run
from tools.boundary.contract import Json, ToolContext, ToolDescriptor, ToolKind, ToolResult
from tools.boundary.failures import NotCommitted
from tools.boundary.interruption import GivenUp, Visit

MakeTool = Callable[..., ToolDescriptor]


def sleep(mark: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_sleep(60) /* {mark} */")


def running(mark: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE state = 'active' AND query LIKE %s AND pid <> pg_backend_pid()",
            [f"SELECT pg_sleep%{mark}%"],
        )
        return int(cursor.fetchone()[0])


@pytest.mark.req("TOOL-013")
@pytest.mark.parametrize("kind", list(ToolKind))
async def test_an_overrun_ends_the_statement_and_frees_the_connection(
    kind: ToolKind, run: Run, make_tool: MakeTool
) -> None:
    mark = secrets.token_hex(8)

    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        await context.in_database(sleep, mark)
        return ToolResult("success", {})

    run.offer(make_tool(execute, kind=kind, timeout_s=0.3))
    started = time.monotonic()
    outcome = await run.call("made_for_a_test")
    assert outcome.outcome == "timeout"
    assert time.monotonic() - started < promised(3)
    assert await in_database(running, mark) == 0


@pytest.mark.req("TOOL-013", "TOOL-011")
async def test_whoever_leaves_ends_the_statement_too(run: Run, make_tool: MakeTool) -> None:
    mark = secrets.token_hex(8)

    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        await context.in_database(sleep, mark)
        return ToolResult("success", {})

    run.offer(make_tool(execute))
    task = asyncio.create_task(run.call("made_for_a_test"))
    await in_database(until, lambda: running(mark), "the statement runs")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await in_database(running, mark) == 0


def test_work_that_had_not_begun_never_begins() -> None:
    visit, made = Visit(), []
    visit.end()
    with pytest.raises(GivenUp):
        visit.make(made.append, 1)
    assert made == []


@pytest.mark.req("TOOL-014")
async def test_a_write_that_proves_it_was_not_made_leaves_the_turn_open(
    run: Run, make_tool: MakeTool
) -> None:
    async def knows(context: ToolContext, arguments: Json) -> ToolResult:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise NotCommitted("The order was not sent.") from None
        return ToolResult("success", {})

    async def knows_at_once(context: ToolContext, arguments: Json) -> ToolResult:
        raise NotCommitted("The order was not sent.")

    run.offer(make_tool(knows, kind=ToolKind.WRITE, timeout_s=0.05))
    outcome = await run.call("made_for_a_test")
    assert (outcome.outcome, outcome.ends_turn) == ("timeout", None)
    run.offer(make_tool(knows_at_once, kind=ToolKind.WRITE))
    outcome = await run.call("made_for_a_test")
    assert (outcome.outcome, outcome.ends_turn) == ("error", None)
    assert "The order was not sent." in outcome.model_view

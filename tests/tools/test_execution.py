"""The one seam: five stages, faults, limits of time, and what is recorded."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from django.db import connection
from prometheus_client import REGISTRY

from agents.journal.offloading import in_database
from audit import funnel
from audit.reasons import ErrorClass, Reason
from tests.tools.conftest import Run
from tools.boundary import execution
from tools.boundary.contract import (
    Authority,
    Canvas,
    Json,
    Presentation,
    RepairDirective,
    Tier,
    ToolContext,
    ToolDescriptor,
    ToolKind,
    ToolResult,
)
from tools.effects.claims import LeaseLost

MakeTool = Callable[..., ToolDescriptor]
TAKES_TEXT: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text"],
    "properties": {"text": {"type": "string", "maxLength": 4_000}},
}


def counted(outcome: str) -> float:
    return REGISTRY.get_sample_value("kaizen_tool_run_total", {"outcome": outcome}) or 0.0


@pytest.mark.req("BND-002", "TOOL-001")
async def test_the_five_stages_run_in_order_under_the_member(run: Run, make_tool: MakeTool) -> None:
    seen: list[str] = []

    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        seen.append(f"executed for {context.identity.member_id}")
        return ToolResult("success", {})

    def project(result: ToolResult) -> Json:
        seen.append("projected")
        return {}

    run.offer(make_tool(execute, project_for_model=project))
    allowed = run.authority(run.identity)

    def ask(identity: Any) -> Authority | None:
        seen.append("authority")
        return allowed

    run.authority = ask
    await run.call("made_for_a_test")
    assert seen == ["authority", f"executed for {run.member.pk}", "projected"]

    # each of the first three stages stops what comes after it
    run.authority = lambda _: Authority(frozenset(), Tier.READ)
    not_permitted = await run.call("made_for_a_test")
    run.offer(make_tool(execute, kind=ToolKind.WRITE))
    run.authority = lambda _: Authority(frozenset({"made_for_a_test"}), Tier.READ)
    above_ceiling = await run.call("made_for_a_test")
    assert [not_permitted.denial, above_ceiling.denial] == [Reason.POLICY_REFUSED] * 2
    assert "ceiling" not in above_ceiling.member_view["message"]
    assert len(seen) == 3


@pytest.mark.req("BND-003", "BND-006")
async def test_authority_revoked_after_admission_counts_for_the_next_call(
    run: Run, make_tool: MakeTool
) -> None:
    calls = []

    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        calls.append(context.call_id)
        return ToolResult("success", {})

    run.offer(make_tool(execute))
    assert (await run.call("made_for_a_test")).outcome == "success"
    run.authority = lambda _: Authority(frozenset({"search_about"}), Tier.WRITE)
    denied = await run.call("made_for_a_test")
    assert (denied.outcome, denied.denial) == ("denied", Reason.POLICY_REFUSED)
    assert denied.ends_turn is None
    assert len(calls) == 1


@pytest.mark.req("TOOL-006")
async def test_authority_that_cannot_be_proven_denies_every_tool_and_ends_the_turn(
    run: Run,
) -> None:
    def unreachable(_: Any) -> Authority:
        raise ConnectionError("no answer")

    for ask in (lambda _: None, unreachable):
        run.authority = ask
        for name in run.offered:
            outcome = await run.call(name)
            assert (outcome.outcome, outcome.ends_turn) == ("denied", Reason.DECISION_UNREACHABLE)
            assert "no answer" not in outcome.model_view


async def test_two_hundred_invented_names_execute_nothing(run: Run) -> None:
    before = counted("denied")
    for _ in range(200):
        outcome = await run.call(f"run_{secrets.token_hex(4)}", {"code": "import os"})
        assert (outcome.outcome, outcome.denial) == ("denied", Reason.TOOL_NOT_OFFERED)
    assert counted("denied") == before + 200
    assert await run.rows() == [("tool_denied", "denied", "tool_not_offered")] * 200


@pytest.mark.req("REG-026")
async def test_arguments_are_held_to_the_whole_schema(run: Run, make_tool: MakeTool) -> None:
    ran = []

    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        ran.append(arguments)
        return ToolResult("success", {})

    run.offer(make_tool(execute, parameters=TAKES_TEXT))
    for arguments, told in (
        ({}, "missing: text"),
        ({"text": 5}, "must be of type string"),
        ({"text": "x" * 4_001}, "has 4,001 characters; it must have at most 4,000"),
        ({"text": "x", "member_id": "7"}, "unknown fields; known are: text"),
        ({"text": "half \ud800"}, "half a character"),
        ({"text": "nul \x00"}, "NUL"),
    ):
        outcome = await run.call("made_for_a_test", arguments)
        assert outcome.denial is Reason.INVALID_ARGUMENTS
        assert told in outcome.model_view
        assert outcome.ends_turn is None
    unreadable = await run.call("made_for_a_test", None, "The text ends in the middle.")
    assert unreadable.denial is Reason.INVALID_ARGUMENTS
    assert "The text ends in the middle." in unreadable.model_view
    assert ran == []
    assert (await run.call("made_for_a_test", {"text": "x" * 4_000})).outcome == "success"


@pytest.mark.req("TOOL-008")
async def test_a_foreseen_failure_is_a_result_for_read_and_write_tools_alike(
    run: Run, make_tool: MakeTool
) -> None:
    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        return ToolResult(
            "error",
            {"message": "The index is being built."},
            presentation=(Presentation("artifact_saved", {"title": "never"}),),
            repair=RepairDirective(retryable=True),
        )

    for kind in ToolKind:
        run.offer(make_tool(execute, kind=kind))
        outcome = await run.call("made_for_a_test")
        assert (outcome.outcome, outcome.error_class) == ("error", ErrorClass.TOOL_ERROR)
        assert outcome.model_view == (
            '{"error_class":"tool_error","message":"The index is being built.",'
            '"outcome":"error","retryable":true}'
        )
        assert outcome.ends_turn is None
        assert outcome.presentation == ()


@pytest.mark.req("BND-028")
async def test_a_failure_of_what_the_tool_ran_is_always_a_tool_error(
    run: Run, make_tool: MakeTool
) -> None:
    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        return ToolResult("error", {}, error_class=ErrorClass.TIMEOUT, failure_domain="caller")

    run.offer(make_tool(execute))
    outcome = await run.call("made_for_a_test")
    assert (outcome.error_class, outcome.failure_domain) == (ErrorClass.TOOL_ERROR, "caller")


@pytest.mark.req("TOOL-009", "TOOL-007")
async def test_an_exception_of_a_read_tool_becomes_its_redacted_first_line(
    run: Run, make_tool: MakeTool, settings: Any
) -> None:
    settings.SECRETS = {"KAIZEN_SECRET_X": "hunter2-hunter2"}

    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        raise OSError("no page for hunter2-hunter2\nTraceback: internal")

    run.offer(make_tool(execute))
    outcome = await run.call("made_for_a_test")
    assert outcome.model_view == (
        '{"error_class":"tool_error","message":"no page for [redacted]","outcome":"error"}'
    )
    assert outcome.member_view == {"message": "This did not work."}
    assert outcome.ends_turn is None


async def test_a_database_fault_never_shows_its_own_words(run: Run, make_tool: MakeTool) -> None:
    def broken() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT secret_column FROM nowhere")

    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        await context.in_database(broken)
        return ToolResult("success", {})

    run.offer(make_tool(execute))
    outcome = await run.call("made_for_a_test")
    assert "nowhere" not in outcome.model_view
    assert "The database could not answer." in outcome.model_view


@pytest.mark.req("TOOL-010")
async def test_an_exception_of_a_write_tool_closes_the_turn(run: Run, make_tool: MakeTool) -> None:
    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        raise ValueError("lost the answer")

    run.offer(make_tool(execute, kind=ToolKind.WRITE))
    outcome = await run.call("made_for_a_test")
    assert (outcome.outcome, outcome.ends_turn) == ("error", Reason.AMBIGUOUS_WRITE)
    assert "lost the answer" not in outcome.model_view
    assert await run.rows() == [
        ("tool_authorised", "success", ""),
        ("tool_called", "error", "ambiguous_write"),
    ]


@pytest.mark.req("TOOL-012", "TOOL-014", "TOOL-013")
async def test_an_overrun_is_cancelled_and_releases_what_it_held(
    run: Run, make_tool: MakeTool
) -> None:
    held: list[str] = []

    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        held.append("lease")
        try:
            await asyncio.sleep(60)
        finally:
            held.remove("lease")
        return ToolResult("success", {})

    for kind, ends_turn in ((ToolKind.READ, None), (ToolKind.WRITE, Reason.AMBIGUOUS_WRITE)):
        run.offer(make_tool(execute, kind=kind, timeout_s=0.05))
        outcome = await run.call("made_for_a_test")
        assert (outcome.outcome, outcome.error_class) == ("timeout", ErrorClass.TIMEOUT)
        assert outcome.ends_turn is ends_turn
        assert held == []
    assert execution.DEFAULT_TIMEOUT_S == 30


async def test_a_tool_that_ignores_its_cancellation_does_not_hold_the_turn(
    run: Run, make_tool: MakeTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "CANCEL_GRACE_S", 0.05)
    free = asyncio.Event()

    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        while not free.is_set():
            try:
                await asyncio.wait_for(free.wait(), 30)
            except asyncio.CancelledError:
                continue
        return ToolResult("success", {})

    run.offer(make_tool(execute, timeout_s=0.05))
    outcome = await asyncio.wait_for(run.call("made_for_a_test"), 10)
    free.set()
    assert outcome.outcome == "timeout"


@pytest.mark.req("TOOL-011")
async def test_cancellation_reaches_the_tool_and_is_raised_again(
    run: Run, make_tool: MakeTool
) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return ToolResult("success", {})

    run.offer(make_tool(execute))
    before = counted("cancelled")
    task = asyncio.create_task(run.call("made_for_a_test"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
    assert counted("cancelled") == before + 1
    assert await run.rows() == [("tool_called", "cancelled", "")]


@pytest.mark.req("TOOL-011")
async def test_a_lost_lease_is_raised_again(run: Run, make_tool: MakeTool) -> None:
    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        raise LeaseLost("another worker")

    run.offer(make_tool(execute, kind=ToolKind.WRITE))
    with pytest.raises(LeaseLost):
        await run.call("made_for_a_test")
    assert [row[:2] for row in await run.rows()] == [
        ("tool_authorised", "success"),
        ("tool_called", "error"),
    ]


@pytest.mark.req("TOOL-002", "BND-026")
def test_a_result_has_a_closed_set_of_fields_with_plain_defaults() -> None:
    result = ToolResult("success", {"n": 1})
    assert (result.failure_domain, result.error_class, result.repair) == ("tool", None, None)
    assert (result.presentation, result.sources, result.chat_canvas_outputs) == ((), (), ())
    with pytest.raises(TypeError):
        ToolResult("success", {}, approved=True)  # type: ignore[call-arg]  # the point of the test
    with pytest.raises(FrozenInstanceError):
        result.failure_domain = "caller"  # type: ignore[misc]  # likewise


@pytest.mark.req("TOOL-002")
async def test_what_is_not_a_result_counts_as_a_fault(run: Run, make_tool: MakeTool) -> None:
    for answer in (
        {"outcome": "success"},
        ToolResult("repeat_suppressed", {}),  # type: ignore[arg-type]  # the point of the test
        ToolResult("pending_confirmation", {}),
        ToolResult("success", {"when": object()}),
        ToolResult("success", {}, presentation=(Presentation("alert", {}),)),
        ToolResult("success", {}, presentation=(Presentation("canvas", {}),)),
        ToolResult("success", {}, chat_canvas_outputs=(Canvas("", "a"), Canvas("", "b"))),
        ToolResult("success", {}, chat_canvas_outputs=(Canvas("", "x" * 100_001),)),
    ):

        async def execute(context: ToolContext, arguments: Json, answer: Any = answer) -> Any:
            return answer

        run.offer(make_tool(execute))
        outcome = await run.call("made_for_a_test")
        assert (outcome.outcome, outcome.error_class) == ("error", ErrorClass.TOOL_ERROR)


@pytest.mark.req("TOOL-015", "AUD-008")
async def test_every_call_counts_once_and_leaves_one_row(run: Run, make_tool: MakeTool) -> None:
    run.offer(make_tool())
    before = {outcome: counted(outcome) for outcome in ("success", "denied", "error")}
    await run.call("made_for_a_test")
    await run.call("no_such_tool")
    await run.call("made_for_a_test", {"surplus": True})
    after = {outcome: counted(outcome) - before[outcome] for outcome in before}
    assert after == {"success": 1, "denied": 2, "error": 0}
    assert await run.rows() == [
        ("tool_called", "success", ""),
        ("tool_denied", "denied", "tool_not_offered"),
        ("tool_denied", "denied", "invalid_arguments"),
    ]


@pytest.mark.req("AUD-009")
async def test_a_write_that_cannot_be_authorised_on_record_never_runs(
    run: Run, make_tool: MakeTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        ran.append(1)
        return ToolResult("success", {})

    run.offer(make_tool(execute, kind=ToolKind.WRITE))
    monkeypatch.setattr(funnel, "WRITE", "INSERT INTO nowhere SELECT {rows}")
    outcome = await run.call("made_for_a_test")
    assert (outcome.outcome, outcome.ends_turn) == ("denied", Reason.DECISION_UNREACHABLE)
    assert ran == []


@pytest.mark.req("AUD-009")
async def test_a_result_that_cannot_be_recorded_is_withheld(
    run: Run, make_tool: MakeTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        monkeypatch.setattr(funnel, "WRITE", "INSERT INTO nowhere SELECT {rows}")
        return ToolResult("success", {"found": "something telling"})

    for kind, ends_turn in (
        (ToolKind.READ, Reason.UNAVAILABLE),
        (ToolKind.WRITE, Reason.AMBIGUOUS_WRITE),
    ):
        run.offer(make_tool(execute, kind=kind))
        outcome = await run.call("made_for_a_test")
        monkeypatch.undo()
        assert (outcome.outcome, outcome.ends_turn) == ("error", ends_turn)
        assert "something telling" not in outcome.model_view


async def test_a_slow_database_visit_gives_its_connection_back(
    run: Run, make_tool: MakeTool
) -> None:
    def slow() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.3)")

    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        await context.in_database(slow)
        return ToolResult("success", {})

    run.offer(make_tool(execute, timeout_s=0.05))
    outcomes = [await run.call("made_for_a_test") for _ in range(3)]
    assert {outcome.outcome for outcome in outcomes} == {"timeout"}
    await asyncio.sleep(0.5)
    assert await in_database(_sleepers) == 0


def _sleepers() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND query LIKE '%%pg_sleep(0.3)%%' AND state <> 'idle' AND pid <> pg_backend_pid()"
        )
        return int(cursor.fetchone()[0])

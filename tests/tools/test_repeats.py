"""Calls that came before in the run: committed writes given again, hopeless inputs refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from audit import canonical
from audit.reasons import ErrorClass, Reason
from tests.tools.conftest import Run
from tools.boundary import registry, repeats
from tools.boundary.contract import (
    Json,
    Parked,
    Presentation,
    RepairDirective,
    Tier,
    ToolCall,
    ToolDescriptor,
    ToolKind,
    ToolResult,
)
from tools.boundary.facts import CallFacts, from_json, to_json
from tools.boundary.repeats import RunLedger

MakeTool = Callable[..., ToolDescriptor]
TAKES_ANY: Json = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"n": {"type": "integer"}, "text": {"type": "string"}},
}
WRITES: dict[str, Any] = {
    "kind": ToolKind.WRITE,
    "parameters": TAKES_ANY,
    "suppress_identical_repeat": True,
}


class Recorder:
    """A tool that counts its runs and answers as it is told."""

    def __init__(self, *results: ToolResult) -> None:
        self.runs = 0
        self.results = list(results)

    async def __call__(self, context: Any, arguments: Json) -> ToolResult:
        self.runs += 1
        if self.results:
            return self.results.pop(0)
        saved = Presentation("artifact_saved", {"run": self.runs})
        return ToolResult("success", {"run": self.runs}, presentation=(saved,))


def counted(outcome: str) -> float:
    return REGISTRY.get_sample_value("kaizen_tool_run_total", {"outcome": outcome}) or 0.0


@pytest.mark.req("BND-035", "BND-036", "BND-041")
async def test_an_identical_later_call_gets_the_first_result_and_runs_nothing(
    run: Run, make_tool: MakeTool
) -> None:
    tool = Recorder()
    run.offer(make_tool(tool, **WRITES))
    first = await run.call("made_for_a_test", {"n": 1, "text": "ü"}, snapshot="step-1")
    suppressed, successes = counted("repeat_suppressed"), counted("success")
    again = await run.call("made_for_a_test", {"text": "ü", "n": 1}, snapshot="step-2")
    assert tool.runs == 1
    view = json.loads(again.model_view)
    assert view.pop("instruction") == repeats.DONE
    assert view.pop("repeat_suppressed") is True
    assert view == json.loads(first.model_view) == {"outcome": "success", "run": 1}
    assert (again.outcome, again.repeat) == ("success", "suppressed")
    assert again.repair == RepairDirective(retryable=False, substitutable=False)
    assert (len(first.presentation), again.presentation) == (1, ())
    assert again.member_view == {"message": repeats.SAME_AS_BEFORE, "repeat_suppressed": True}
    assert again.why[-1]["by"] == "repeat"
    assert (again.why[-1]["outcome"], again.why[-1]["code"]) == ("narrowed", "repeat_suppressed")
    assert counted("repeat_suppressed") == suppressed + 1
    assert counted("success") == successes
    assert await run.rows() == [
        ("tool_authorised", "success", ""),
        ("tool_called", "success", ""),
        ("tool_called", "repeat_suppressed", "repeat_suppressed"),
    ]
    await run.call("made_for_a_test", {"n": 2, "text": "ü"}, snapshot="step-2")
    assert tool.runs == 2


@pytest.mark.req("BND-031", "BND-032", "BND-034")
@pytest.mark.parametrize(
    "changes",
    [
        {"suppress_identical_repeat": False},
        {"kind": ToolKind.READ},
        {"repeat_exempt": True},
    ],
    ids=["did not ask for it", "reads", "is exempt"],
)
async def test_every_other_tool_runs_again(
    changes: dict[str, Any], run: Run, make_tool: MakeTool
) -> None:
    tool = Recorder()
    run.offer(make_tool(tool, **{**WRITES, **changes}))
    for snapshot in ("step-1", "step-2", ""):
        outcome = await run.call("made_for_a_test", {"n": 1}, snapshot=snapshot)
        assert (outcome.outcome, outcome.repeat) == ("success", "")
    assert tool.runs == 3


@pytest.mark.req("BND-034")
async def test_a_sensitive_call_is_asked_about_each_time(run: Run, make_tool: MakeTool) -> None:
    tool = Recorder()
    run.offer(make_tool(tool, **{**WRITES, "tier": Tier.SENSITIVE}))
    for snapshot in ("step-1", "step-2"):
        assert isinstance(await run.call("made_for_a_test", {"n": 1}, snapshot=snapshot), Parked)
    assert tool.runs == 0


@pytest.mark.req("BND-031", "BND-033")
def test_saving_asks_for_it_and_updating_does_not() -> None:
    asking = {name for name in registry.ENTRIES if registry.resolve(name).suppress_identical_repeat}
    assert asking == {"create_artifact"}
    assert [name for name in registry.ENTRIES if registry.resolve(name).repeat_exempt] == []


@pytest.mark.req("BND-040")
async def test_calls_of_one_step_are_siblings_and_both_run(run: Run, make_tool: MakeTool) -> None:
    tool = Recorder()
    run.offer(make_tool(tool, **WRITES))
    for snapshot, runs in (("step-1", 1), ("step-1", 2), ("step-2", 2), ("", 2), ("step-1", 3)):
        await run.call("made_for_a_test", {"n": 1}, snapshot=snapshot)
        assert tool.runs == runs
    unknown = Recorder()
    run.offer(make_tool(unknown, name="made_without_a_step", **WRITES))
    for _ in range(2):
        await run.call("made_without_a_step", {"n": 1})
    assert unknown.runs == 1


@pytest.mark.req("BND-037")
async def test_only_what_literally_succeeded_is_given_again(run: Run, make_tool: MakeTool) -> None:
    staged = ToolResult("pending_confirmation", {})
    failed = ToolResult("error", {"message": "busy"}, error_class=ErrorClass.RATE_LIMITED)
    tool = Recorder(staged, failed)
    run.offer(make_tool(tool, **WRITES))
    outcomes = [
        (await run.call("made_for_a_test", {"n": 1}, snapshot=f"step-{n}")).outcome
        for n in range(4)
    ]
    assert outcomes == ["pending_confirmation", "error", "success", "success"]
    assert tool.runs == 3


@pytest.mark.req("BND-003", "BND-006")
async def test_a_right_that_was_lost_also_ends_giving_results_again(
    run: Run, make_tool: MakeTool
) -> None:
    run.offer(make_tool(Recorder(), **WRITES))
    await run.call("made_for_a_test", {"n": 1}, snapshot="step-1")
    run.authority = lambda _: None
    denied = await run.call("made_for_a_test", {"n": 1}, snapshot="step-2")
    assert denied.denial is Reason.DECISION_UNREACHABLE


@pytest.mark.req("BND-042", "BND-043")
async def test_an_input_that_cannot_work_is_refused_and_in_the_end_an_answer_is_asked_for(
    run: Run, make_tool: MakeTool
) -> None:
    hopeless = ToolResult(
        "error",
        {"message": "there is no such page"},
        error_class=ErrorClass.NOT_FOUND,
        repair=RepairDirective(retryable=False, substitutable=True),
    )
    tool = Recorder(hopeless)
    run.offer(make_tool(tool, **WRITES))
    await run.call("made_for_a_test", {"n": 1}, snapshot="step-0")
    errors = counted("error")
    refused = [
        await run.call("made_for_a_test", {"n": 1}, snapshot=f"step-{n}") for n in range(1, 5)
    ]
    assert tool.runs == 1
    assert counted("error") == errors + 4
    for outcome in refused:
        assert (outcome.outcome, outcome.repeat) == ("error", "refused")
        assert (outcome.error_class, outcome.failure_domain) == (ErrorClass.TOOL_ERROR, "caller")
        assert outcome.denial is Reason.REPEAT_REFUSED
        assert outcome.ends_turn is None
        assert (outcome.why[-1]["outcome"], outcome.why[-1]["code"]) == ("denied", "repeat_refused")
    said = [json.loads(outcome.model_view)["message"] for outcome in refused]
    assert said == [repeats.CHANGE_INPUT] * 2 + [repeats.ANSWER_NOW] * 2
    assert [outcome.repair.substitutable for outcome in refused if outcome.repair] == [
        True,
        True,
        False,
        False,
    ]
    assert (await run.rows())[-1] == ("tool_called", "error", "repeat_refused")
    other = await run.call("made_for_a_test", {"n": 2}, snapshot="step-5")
    assert (other.outcome, tool.runs) == ("success", 2)


@pytest.mark.req("BND-027", "BND-029")
async def test_what_a_tool_only_relayed_is_not_run_again_until_something_has_changed(
    run: Run, make_tool: MakeTool
) -> None:
    exit_one = ToolResult("error", {"stderr": "no such file"}, failure_domain="caller")
    tool, change = Recorder(exit_one), Recorder()
    run.offer(make_tool(tool, **{**WRITES, "suppress_identical_repeat": False}))
    run.offer(make_tool(change, name="made_to_change", **WRITES))
    steps = iter(range(9))

    async def call(name: str) -> str:
        outcome = await run.call(name, {"n": 1}, snapshot=f"step-{next(steps)}")
        return outcome.repeat or outcome.outcome

    assert await call("made_for_a_test") == "error"
    assert await call("made_for_a_test") == "refused"
    assert await call("made_to_change") == "success"
    assert await call("made_for_a_test") == "success"
    assert tool.runs == 2


@pytest.mark.req("BND-039")
def test_looking_counts_nothing(make_tool: MakeTool) -> None:
    ledger, tool = RunLedger(), make_tool(**WRITES)
    assert ledger.peek(tool, "d", "step-2") is None
    ledger.observe(tool, facts("d", "step-1"), '{"n":1}', {"message": "Saved."})
    for _ in range(5):
        done = ledger.peek(tool, "d", "step-2")
        assert done is not None
        assert (done.model_view, done.step_snapshot_id) == ('{"n":1}', "step-1")
    assert ledger.peek(tool, "d", "step-1") is None
    given_again = ledger.answer(tool, "d", call("step-2"))
    assert given_again is not None
    assert json.loads(given_again.model_view)["instruction"] == repeats.DONE


@pytest.mark.req("BND-038")
def test_a_run_remembers_its_last_256_writes(make_tool: MakeTool) -> None:
    ledger, tool = RunLedger(), make_tool(**WRITES)
    for n in range(300):
        ledger.observe(tool, facts(f"d-{n}", "step-1"), "{}", {})
    kept = [n for n in range(300) if ledger.peek(tool, f"d-{n}", "step-2")]
    assert kept == list(range(44, 300))
    assert RunLedger().peek(tool, "d-299", "step-2") is None


@given(
    moves=st.lists(
        st.tuples(
            st.sampled_from(["d1", "d2", "d3"]),
            st.sampled_from(["", "s1", "s2", "s3"]),
            st.sampled_from(["success", "error", "caller", "timeout", "pending_confirmation"]),
        ),
        max_size=20,
    )
)
def test_journaled_facts_rebuild_the_same_ledger(moves: list[tuple[str, str, str]]) -> None:
    live, rebuilt = RunLedger(), RunLedger()
    tool = WRITING
    for n, (digest, step, ends) in enumerate(moves):
        answered = live.answer(tool, digest, call(step))
        fact = facts(digest, step, n, ends, tool.name)
        if answered is not None:
            fact = repeated(answered.repeat, digest)
        live.observe(tool, fact, "{}", {"n": n})
        kept = json.loads(canonical.dump(to_json(fact)))
        rebuilt.observe(tool, from_json(kept), "{}", {"n": n})
        for asked in ("d1", "d2", "d3"):
            for at in ("", "s1", "s2"):
                assert live.answer(tool, asked, call(at)) == rebuilt.answer(tool, asked, call(at))


WRITING = registry.resolve("create_artifact")


def call(step: str) -> ToolCall:
    return ToolCall("c", 1, 0, "made_for_a_test", {}, step_snapshot_id=step)


def facts(
    digest: str, step: str, n: int = 0, ends: str = "success", tool: str = "made_for_a_test"
) -> CallFacts:
    caller = ends == "caller"
    return CallFacts(
        call_id=f"c-{n}",
        tool=tool,
        outcome="error" if caller else ends,  # type: ignore[arg-type]  # drawn from the outcomes
        arguments_digest=digest,
        step_snapshot_id=step,
        failure_domain="caller" if caller else "tool",
        error_class="tool_error" if caller else "",
        repair=RepairDirective(retryable=False, locked_arguments=("n",)) if n % 2 else None,
    )


def repeated(repeat: Any, digest: str) -> CallFacts:
    return CallFacts("r", WRITING.name, "success", arguments_digest=digest, repeat=repeat)

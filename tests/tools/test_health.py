"""A tool that keeps failing by its own fault is no longer offered in the run."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from audit.reasons import Reason
from tests.tools.conftest import Run
from tools.boundary.contract import Json, ToolDescriptor, ToolResult
from tools.boundary.facts import CallFacts
from tools.boundary.health import HealthTally

MakeTool = Callable[..., ToolDescriptor]
TAKES_N: Json = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"n": {"type": "integer"}},
}


def tally(*failures: tuple[str, str], outcome: Any = "error") -> frozenset[str]:
    """The withdrawn tools after failures, each an input and a domain."""
    health = HealthTally()
    for n, (digest, domain) in enumerate(failures):
        health.observe(
            CallFacts(
                f"c-{n}",
                "frail",
                outcome,
                arguments_digest=digest,
                failure_domain=domain,  # type: ignore[arg-type]  # one of the two domains
            )
        )
    return health.withdrawn


@pytest.mark.req("BND-030")
def test_five_failures_on_two_inputs_withdraw_a_tool() -> None:
    assert tally(*[("a", "tool")] * 4, ("b", "tool")) == {"frail"}
    assert tally(*[("a", "tool")] * 3, ("b", "tool")) == frozenset()
    assert tally(*[("a", "tool")] * 9) == frozenset()
    assert tally(*[("a", "tool"), ("b", "tool")] * 3, outcome="timeout") == {"frail"}
    assert tally(*[("a", "tool"), ("b", "tool")] * 3, outcome="success") == frozenset()
    assert tally(*[("a", "tool"), ("b", "tool")] * 3, outcome="denied") == frozenset()


@pytest.mark.req("BND-029")
def test_what_a_tool_relays_says_nothing_about_its_health() -> None:
    assert tally(*[("a", "caller"), ("b", "caller")] * 9) == frozenset()
    assert tally(*[("a", "caller")] * 9, *[("b", "tool")] * 4) == frozenset()


@pytest.mark.req("BND-030", "BND-028")
async def test_a_withdrawn_tool_is_gone_from_the_next_step(run: Run, make_tool: MakeTool) -> None:
    domain = "caller"

    async def execute(context: Any, arguments: Json) -> ToolResult:
        words = {"message": "timeout: forbidden, not found, rate limited"}
        return ToolResult("error", words, failure_domain=domain)  # type: ignore[arg-type]  # a domain

    run.offer(make_tool(execute, parameters=TAKES_N))
    relayed = [await run.call("made_for_a_test", {"n": n}, snapshot=str(n)) for n in range(6)]
    assert {outcome.error_class for outcome in relayed} == {"tool_error"}
    assert {outcome.failure_domain for outcome in relayed} == {"caller"}
    assert "rate limited" in json.loads(relayed[0].model_view)["message"]
    assert "made_for_a_test" in run.memory.offer()
    domain = "tool"
    for n in range(10, 15):
        assert "made_for_a_test" in run.memory.offer()
        await run.call("made_for_a_test", {"n": n})
    run.offered = run.memory.offer()
    denied = await run.call("made_for_a_test", {"n": 20})
    assert denied.denial is Reason.TOOL_NOT_OFFERED
    assert "failed too often" in denied.model_view
    assert "failed too often" in denied.why[-1]["text"]
    assert "search_about" in run.offered

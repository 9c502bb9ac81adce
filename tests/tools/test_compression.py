"""Long results are shortened after everything else was decided, or left as they were."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import canonical
from tests.tools.conftest import Run
from tools.boundary import compression, registry
from tools.boundary.compression import compressed, reduced
from tools.boundary.contract import Authority, Json, Tier, ToolDescriptor, ToolResult

MakeTool = Callable[..., ToolDescriptor]
LINES = "\n".join(f"line {n}: {'x' * 40}" for n in range(600))
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=200)
LONG: Json = {
    "id": "a-1",
    "log": LINES,
    "rows": [{"n": n, "note": "y" * 60} for n in range(90)],
    "one_line": " ".join(f"word{n}" for n in range(300)),
    "deep": {"kept": True},
}


def giving(payload: Json, outcome: Any = "success") -> Callable[..., Any]:
    async def execute(context: Any, arguments: Json) -> ToolResult:
        return ToolResult(outcome, payload)

    return execute


def test_head_tail_and_structure_of_a_long_result_stay() -> None:
    view = json.loads(reduced(canonical.dump(LONG)))
    assert set(view) == {*LONG, "compressed"}
    assert (view["id"], view["deep"], view["compressed"]) == ("a-1", {"kept": True}, True)
    log = view["log"].split("\n")
    assert (log[0], log[-1]) == (LINES.split("\n")[0], LINES.split("\n")[-1])
    (gap,) = [line for line in log if line.startswith("[…")]
    assert gap == f"[… {600 - len(log) + 1:,} lines left out …]"
    assert (view["rows"][0], view["rows"][-1]) == (LONG["rows"][0], LONG["rows"][-1])
    assert f"[{90 - len(view['rows']) + 1:,} items left out]" in view["rows"]
    assert view["one_line"].startswith("word0 word1 ")
    assert view["one_line"].endswith(" word299")


@given(
    payload=st.dictionaries(
        TEXTS,
        st.recursive(
            TEXTS | st.integers(-9, 9) | st.none(),
            lambda inner: st.lists(inner, max_size=40) | st.dictionaries(TEXTS, inner, max_size=5),
            max_leaves=60,
        ),
        max_size=8,
    )
)
def test_the_same_result_always_becomes_the_same_shorter_one(payload: Json) -> None:
    payload.pop("compressed", None)
    text = canonical.dump(payload)
    once = reduced(text)
    assert once == reduced(text)
    assert set(json.loads(once)) == {*payload, "compressed"}


@pytest.mark.req("BND-004")
async def test_results_are_shortened_only_for_whoever_wants_it_and_after_authority(
    run: Run, make_tool: MakeTool
) -> None:
    run.offer(make_tool(giving({**LONG, "log": LINES[:20_000]})))
    plain = await run.call("made_for_a_test")
    assert len(plain.model_view.encode()) > 20_000
    run.compress = True
    shorter = await run.call("made_for_a_test")
    assert 2_000 < len(shorter.model_view.encode()) <= 4_096
    assert shorter.member_view == plain.member_view
    run.authority = lambda _: Authority(frozenset(), Tier.READ)
    denied = await run.call("made_for_a_test")
    assert (denied.outcome, "compressed" in denied.model_view) == ("denied", False)


async def test_credentials_are_masked_before_anything_is_cut(run: Run, make_tool: MakeTool) -> None:
    run.compress = True
    secret = "sk-abcdefghijklmnopqrstuvwxyz0123456789"
    words = " ".join([secret] * 800)
    run.offer(make_tool(giving({"log": words})))
    view = (await run.call("made_for_a_test")).model_view
    assert "compressed" in view
    assert "sk-" not in view


async def test_failures_short_results_and_whole_results_stay_as_they_are(
    run: Run, make_tool: MakeTool
) -> None:
    run.compress = True
    for tool in (
        make_tool(giving({"log": LINES[:20_000]}, "error")),
        make_tool(giving({"log": LINES[:20_000]}), whole_result=True),
        make_tool(giving({"log": LINES[:3_000]})),
    ):
        run.offer(tool)
        view = json.loads((await run.call("made_for_a_test")).model_view)
        assert "compressed" not in view
    whole = {name for name in registry.ENTRIES if registry.resolve(name).whole_result}
    assert whole == {"read_artifact"}


@pytest.mark.req("BND-005")
async def test_a_fault_or_an_overrun_leaves_the_result_as_it_was(
    run: Run, make_tool: MakeTool
) -> None:
    tool = make_tool(giving({"log": LINES[:20_000]}))
    run.offer(tool)
    plain = await run.call("made_for_a_test")
    started = asyncio.get_running_loop().time()

    def slow(text: str) -> str:
        time.sleep(0.4)
        return "{}"

    assert await compressed(plain, tool, reduce=slow, timeout_s=0.02) == plain
    assert asyncio.get_running_loop().time() - started < 0.4
    broken = replace(plain, model_view='["' + "x" * 9_000 + '"]')
    assert await compressed(broken, tool) == broken
    assert (await compressed(plain, tool)).model_view != plain.model_view
    assert compression.TIMEOUT_S == 1.0

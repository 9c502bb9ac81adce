"""Every tool has a test that says exactly what the model and people see of it."""

import ast
from collections.abc import Iterable

import pytest

from tests.boundaries.source import Source, functions, sample, test_sources
from tools import AGENT_LOOP_TOOL_NAMES


def shown(sources: Iterable[Source]) -> set[str]:
    """Tools called in a test marked as showing a projection, which looks at both views."""
    return {
        str(node.args[0].value)
        for source in sources
        if source.path.startswith("tests/tools/")
        for function in functions(source.tree)
        if any("TST-002" in ast.unparse(mark) for mark in function.decorator_list)
        and all(view in ast.unparse(function) for view in ("model_view", "member_view"))
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith(".call")
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }


@pytest.mark.req("TST-002")
def test_every_tool_has_a_test_of_its_projections() -> None:
    assert shown(test_sources()) == AGENT_LOOP_TOOL_NAMES


def test_a_test_that_looks_at_one_view_does_not_count() -> None:
    text = """
        @pytest.mark.req("TST-002")
        async def test_it(run):
            outcome = await run.call("peek")
            assert outcome.model_view == "{}"
        """
    assert shown([sample("tests/tools/test_peek.py", text)]) == set()
    both = text + "    assert outcome.member_view == {}\n        "
    assert shown([sample("tests/tools/test_peek.py", both)]) == {"peek"}

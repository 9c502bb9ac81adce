"""There is one boundary, one chain, one gateway, one funnel: each is defined once, and used where
it may be.
"""

import ast
from collections.abc import Iterable

import pytest

from tests.boundaries.source import Source, functions, runtime_sources, sample

# Seam, and the one file that defines it.
SEAMS = {
    "handle_tool_exec": "tools/boundary/execution.py",
    "compose": "agents/prompts/chain.py",
    "record_all": "audit/funnel.py",
    "row_hash": "audit/chains.py",
    "prove": "tools/effects/claims.py",
}
# Who may call the boundary: the host of turns.
CALLERS = ("agents/turns/", "tools/boundary/")
DATABASE = ("cursor", "editor", "connection", "statement")


def seam_faults(sources: Iterable[Source]) -> list[str]:
    return [
        source.at(node, f"defines {node.name} beside {SEAMS[node.name]}")
        for source in sources
        for node in functions(source.tree)
        if node.name in SEAMS and SEAMS[node.name] != source.path
    ]


def execute_faults(sources: Iterable[Source]) -> list[str]:
    """Only the boundary runs a tool; every other `.execute` belongs to a database cursor."""
    return [
        source.at(node, f"runs {receiver}.execute")
        for source in sources
        if source.path != SEAMS["handle_tool_exec"]
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "execute"
        and not (receiver := ast.unparse(node.func.value).split(".")[-1]).endswith(DATABASE)
    ]


def caller_faults(sources: Iterable[Source]) -> list[str]:
    return [
        source.at(node, "calls the boundary")
        for source in sources
        if not source.path.startswith(CALLERS)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).split(".")[-1] == "handle_tool_exec"
    ]


@pytest.mark.req("TST-005")
def test_every_seam_is_defined_once() -> None:
    assert seam_faults(runtime_sources()) == []
    for seam, path in SEAMS.items():
        (source,) = [source for source in runtime_sources() if source.path == path]
        assert any(node.name == seam for node in functions(source.tree)), seam


@pytest.mark.req("BND-001")
def test_only_the_boundary_runs_tools() -> None:
    assert execute_faults(runtime_sources()) == []
    assert caller_faults(runtime_sources()) == []


def test_a_second_seam_is_found() -> None:
    assert seam_faults([sample("agents/turns/x.py", "async def handle_tool_exec(call): ...")])
    assert execute_faults([sample("agents/turns/x.py", "await descriptor.execute(context, {})")])
    assert execute_faults([sample("agents/turns/x.py", "cursor.execute(sql)")]) == []
    assert caller_faults([sample("agents/api/x.py", "await execution.handle_tool_exec(call)")])

"""Inputs are accepted and made claimable in one module, and driven in one place."""

import ast
from collections.abc import Iterable

import pytest

from tests.boundaries.source import Source, runtime_sources, sample

# What each may do that nobody else may.
ACCEPTS = "agents/conversations/inputs.py"
DRIVES = "agents/turns/worker.py"


def strays(sources: Iterable[Source]) -> list[str]:
    """Places that publish an accepted input, make a run claimable or drive one beside these."""
    owners = {"claims.enqueue": ACCEPTS, "Kind.INPUT_ACCEPTED": ACCEPTS, "DrivenTurn": DRIVES}
    return [
        source.at(node, f"does what {owners[named]} does")
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        for named in _named(node)
        if named in owners and source.path != owners[named]
    ]


def _named(call: ast.Call) -> set[str]:
    """What is called, and what a draft is a draft of."""
    function = ast.unparse(call.func)
    names = {function, function.split(".")[-1]}
    if function.split(".")[-1] == "Draft" and call.args:
        names.add(ast.unparse(call.args[0]))
    return names


@pytest.mark.req("INP-018")
def test_one_module_accepts_and_one_place_drives() -> None:
    assert strays(runtime_sources()) == []


@pytest.mark.req("INP-018")
@pytest.mark.parametrize(
    "text",
    [
        "claims.enqueue(run_id, lane=lane, ordinal=1)",
        "append(stream, [Draft(Kind.INPUT_ACCEPTED, {})])",
        "DrivenTurn(admitted, publisher, transcripts)",
    ],
)
def test_another_one_is_found(text: str) -> None:
    assert len(strays([sample("agents/api/x.py", text)])) == 1

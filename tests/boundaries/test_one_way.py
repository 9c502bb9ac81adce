"""There is one way to a model, to a tool, to a turn's end and to the journal, whatever controller
works the turn.
"""

import ast
from collections.abc import Iterable

import pytest

from tests.boundaries.source import Source, runtime_sources, sample

# A function by its module and name, and the files that may call it.
ONE_WAY = {
    ("agents.gateway.stream", "stream"): {"agents/turns/asking.py", "agents/gateway/client.py"},
    ("tools.boundary.execution", "handle_tool_exec"): {"agents/turns/batches.py"},
    ("agents.turns.normaliser", "closed"): {"agents/turns/host.py"},
    ("agents.turns.answers", "settle"): {"agents/turns/host.py", "agents/turns/compaction.py"},
}
WRITES_ENTRIES = "agents/journal/append.py"


def callers(sources: Iterable[Source], module: str, name: str) -> set[str]:
    """The files that name a function of a module, by import or as its attribute."""
    short = module.rpartition(".")[2]
    found = set()
    for source in sources:
        for node in ast.walk(source.tree):
            imported = isinstance(node, ast.ImportFrom) and node.module == module
            if imported and any(alias.name == name for alias in node.names):
                found.add(source.path)
            if isinstance(node, ast.Attribute) and ast.unparse(node) == f"{short}.{name}":
                found.add(source.path)
    return found


def journal_writers(sources: Iterable[Source]) -> set[str]:
    """The files that write, change or remove entries."""
    return {
        source.path
        for source in sources
        if not source.is_migration
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and any(
            f"{verb} journal_entry" in " ".join(node.value.split())
            for verb in ("INTO", "UPDATE", "FROM ONLY", "DELETE FROM")
        )
    }


@pytest.mark.req("GW-008", "NRM-001", "NRM-005")
@pytest.mark.parametrize(("module", "name"), ONE_WAY, ids=lambda part: str(part))
def test_turns_have_one_way_to_models_tools_and_ends(module: str, name: str) -> None:
    assert callers(runtime_sources(), module, name) == ONE_WAY[module, name]


@pytest.mark.req("GW-009")
def test_the_journal_is_written_in_one_place() -> None:
    assert journal_writers(runtime_sources()) == {WRITES_ENTRIES}


def test_a_second_way_is_found() -> None:
    by_import = "from tools.boundary.execution import handle_tool_exec"
    assert callers(
        [sample("agents/web/x.py", by_import)], "tools.boundary.execution", "handle_tool_exec"
    )
    by_name = "await answers.settle(x)"
    assert callers([sample("agents/web/x.py", by_name)], "agents.turns.answers", "settle")
    assert journal_writers([sample("agents/web/x.py", "x = 'INSERT INTO  journal_entry (id)'")])

"""A reading tool persists nothing: neither its module nor anything that one imports can."""

import ast
import re
from collections.abc import Iterable

import pytest

from tests.boundaries import source
from tests.boundaries.source import Source, runtime_sources, sample

WRITING_CALLS = {
    "save",
    "create",
    "bulk_create",
    "bulk_update",
    "update",
    "delete",
    "get_or_create",
    "update_or_create",
    "aupdate",
    "acreate",
    "asave",
    "adelete",
}
WRITING_SQL = re.compile(r"\b(INSERT\s+INTO|UPDATE\s+\w+\s+SET|UPDATE\s+\w+\s+AS|DELETE\s+FROM)\b")
WRITERS = {"audit.funnel.record", "audit.funnel.record_all", "agents.journal.append"}


def writes(one: Source) -> list[str]:
    """What in a module persists something: a queryset's verb, SQL, or one of our writers."""
    found = [
        one.at(node, ast.unparse(node.func))
        for node in ast.walk(one.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in WRITING_CALLS
    ]
    found += [one.at(node, "SQL") for node in source.strings(one) if WRITING_SQL.search(node.value)]
    found += [
        one.at(node, name)
        for node, name in source.imports(one)
        if source.within(name, *WRITERS) or name == "audit.funnel"
    ]
    return found


def reached(start: Source, among: Iterable[Source]) -> list[Source]:
    """The module and everything of ours it imports, directly or not."""
    modules = {one.module: one for one in among}
    found, waiting = {start.module: start}, [start]
    while waiting:
        for _, name in source.imports(waiting.pop(), types=False):
            while name and name not in modules:
                name = name.rpartition(".")[0]
            if name and name not in found:
                found[name] = modules[name]
                waiting.append(modules[name])
    return list(found.values())


def persisting_readers(among: Iterable[Source]) -> list[str]:
    """Reading tools whose module reaches something that writes, and where."""
    sources = list(among)
    return [
        f"{ast.literal_eval(keywords['name'])}: {write}"
        for one in sources
        for keywords in source.descriptors(one)
        if ast.unparse(keywords["kind"]).endswith(".READ")
        for module in reached(one, sources)
        for write in writes(module)
    ]


@pytest.mark.req("REG-028", "REG-027")
def test_no_reading_tool_reaches_anything_that_persists() -> None:
    assert persisting_readers(runtime_sources()) == []
    about = next(one for one in runtime_sources() if one.path == "tools/builtin/history.py")
    assert "agents.conversations.search" in {
        one.module for one in reached(about, runtime_sources())
    }


@pytest.mark.parametrize(
    "text",
    [
        "from artifacts import keeping",
        "from artifacts import writing\n",
        "def f(rows): rows.filter(id=1).update(seen=True)",
        "def f(note): note.save()",
        "SQL = 'INSERT INTO notes VALUES (1)'",
    ],
)
def test_a_reading_tool_that_persists_is_found_also_through_another_module(text: str) -> None:
    tool = sample(
        "tools/builtin/peeking.py",
        f"{text}\nTOOL = ToolDescriptor(name='peek', kind=ToolKind.READ)",
    )
    keeping = sample("artifacts/keeping.py", "from artifacts import rows")
    rows = sample("artifacts/rows.py", "def keep(row):\n    row.save()")
    writing = sample("artifacts/writing.py", "from audit import funnel")
    found = persisting_readers([tool, keeping, rows, writing])
    assert found
    assert all(fault.startswith("peek: ") for fault in found)

"""No tool is named in code that runs it: a feature deleted deletes files, not branches."""

from collections.abc import Iterable

import pytest

from tests.boundaries.source import Source, runtime_sources, sample, strings
from tools import AGENT_LOOP_TOOL_NAMES

# The closed set, its registry, and each tool's own file.
MAY_NAME_TOOLS = ("tools/__init__.py", "tools/boundary/registry.py", "tools/builtin/")
# A right people can be given, by chance of the same name: where it is declared and asked for.
RIGHTS = {
    "artifacts/migrations/0001_initial.py edit_artifact",
    "artifacts/models.py edit_artifact",
    "artifacts/querysets.py edit_artifact",
}


def tool_faults(sources: Iterable[Source]) -> list[str]:
    return [
        source.at(node, f"names the tool {node.value}")
        for source in sources
        if not source.path.startswith(MAY_NAME_TOOLS)
        for node in strings(source)
        if node.value in AGENT_LOOP_TOOL_NAMES and f"{source.path} {node.value}" not in RIGHTS
    ]


@pytest.mark.req("TST-001")
def test_no_code_names_a_tool() -> None:
    assert tool_faults(runtime_sources()) == []


def test_a_named_tool_is_found() -> None:
    name = min(AGENT_LOOP_TOOL_NAMES)
    assert tool_faults([sample("agents/turns/x.py", f"if call.name == '{name}': ...")])
    assert tool_faults([sample("tools/builtin/x.py", f"NAME = '{name}'")]) == []

"""No agent, tool or package is named in code that runs them: a feature deleted deletes files, not
branches.
"""

import ast
import tomllib
from collections.abc import Iterable

import pytest

from tests.boundaries.source import ROOT, Source, runtime_sources, sample, strings
from tools import AGENT_LOOP_TOOL_NAMES

# The closed set, its registry, and each tool's own file.
MAY_NAME_TOOLS = ("tools/__init__.py", "tools/boundary/registry.py", "tools/builtin/")
# A right people can be given, by chance of the same name: where it is declared and asked for.
RIGHTS = {
    "artifacts/migrations/0001_initial.py edit_artifact",
    "artifacts/models.py edit_artifact",
    "artifacts/querysets.py edit_artifact",
}
BUNDLES = "agents/definitions/bundles"


def tool_faults(sources: Iterable[Source]) -> list[str]:
    return [
        source.at(node, f"names the tool {node.value}")
        for source in sources
        if not source.path.startswith(MAY_NAME_TOOLS)
        for node in strings(source)
        if node.value in AGENT_LOOP_TOOL_NAMES and f"{source.path} {node.value}" not in RIGHTS
    ]


def agent_faults(sources: Iterable[Source], names: Iterable[str]) -> list[str]:
    """Decisions that compare with an agent's name or slug."""
    known = set(names)
    return [
        source.at(node, f"decides by the agent {constant.value!r}")
        for source in sources
        if source.path.startswith(("agents/", "tools/", "artifacts/", "packages_app/"))
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Compare | ast.match_case)
        for constant in ast.walk(node.pattern if isinstance(node, ast.match_case) else node)
        if isinstance(constant, ast.Constant) and constant.value in known
    ]


def bundle_names() -> set[str]:
    names = set()
    for path in sorted((ROOT / BUNDLES).glob("*.toml")):
        bundle = tomllib.loads(path.read_text(encoding="utf-8"))
        names |= {str(bundle["slug"]), str(bundle["name"])}
    return names


def bundle_code_faults() -> list[str]:
    """Bundles are data: no code lies beside them."""
    return [str(path) for path in (ROOT / BUNDLES).rglob("*") if path.suffix not in {".toml", ""}]


@pytest.mark.req("TST-001")
def test_no_code_names_a_tool() -> None:
    assert tool_faults(runtime_sources()) == []


def test_a_named_tool_is_found() -> None:
    name = min(AGENT_LOOP_TOOL_NAMES)
    assert tool_faults([sample("agents/turns/x.py", f"if call.name == '{name}': ...")])
    assert tool_faults([sample("tools/builtin/x.py", f"NAME = '{name}'")]) == []


def test_no_code_decides_by_an_agents_name() -> None:
    assert bundle_names()
    assert agent_faults(runtime_sources(), bundle_names()) == []
    assert bundle_code_faults() == []


@pytest.mark.parametrize(
    "text",
    [
        "if agent.slug == 'scout': ...",
        "x = slug in {'scout', 'other'}",
        "match slug:\n    case 'scout': ...",
    ],
)
def test_a_decision_by_an_agents_name_is_found(text: str) -> None:
    assert agent_faults([sample("agents/turns/x.py", text)], {"scout"})

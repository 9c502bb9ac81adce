"""The closed set of tools: exact names, one descriptor each, a reason beside every name."""

import ast
import re
from importlib import import_module

import pytest

from agents.journal.frames import Kind
from tests.boundaries import source
from tests.boundaries.source import Source
from tools import AGENT_LOOP_TOOL_NAMES
from tools.boundary import registry

NAMES = {
    "search_about",
    "show_chat_canvas",
    "conversation_history_search",
    "list_available_agents",
    "create_artifact",
    "update_artifact",
    "edit_artifact",
    "begin_artifact",
    "append_artifact",
    "finalize_artifact",
    "discard_artifact",
    "read_artifact",
    "tool_search",
}
# Two families are barred for good: tickets, and a protocol of action cards.
BARRED = re.compile(r"(ticket|action_?card)")
REASON = re.compile(r"# (read|write): \w.{20,}")


def tools_package() -> Source:
    return next(one for one in source.runtime_sources() if one.path == "tools/__init__.py")


def names_in_source() -> list[str]:
    return [
        ast.literal_eval(keywords["name"])
        for one in source.runtime_sources()
        for keywords in source.descriptors(one)
    ]


def unexplained(one: Source) -> list[str]:
    """Names of the set without a comment right above that says kind and reason."""
    lines = one.text.split("\n")
    assigned = next(
        node
        for node in one.tree.body
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "AGENT_LOOP_TOOL_NAMES"
    )
    names = [
        node
        for node in ast.walk(assigned)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return [node.value for node in names if not REASON.fullmatch(lines[node.lineno - 2].strip())]


@pytest.mark.req("REG-002")
def test_the_set_holds_exactly_these_names() -> None:
    assert AGENT_LOOP_TOOL_NAMES == NAMES
    assert len(AGENT_LOOP_TOOL_NAMES) == 13
    assert isinstance(AGENT_LOOP_TOOL_NAMES, frozenset)


@pytest.mark.req("REG-004")
def test_every_name_has_one_descriptor_and_every_descriptor_a_name() -> None:
    assert sorted(names_in_source()) == sorted(NAMES)
    assert set(registry.ENTRIES) == NAMES
    assert {registry.resolve(name).name for name in NAMES} == NAMES


@pytest.mark.req("REG-003")
def test_every_name_says_why_it_exists_and_what_kind_it_is() -> None:
    one = tools_package()
    assert unexplained(one) == []
    bare = re.sub(r"# read: finds.*\n", "\n", one.text)
    assert unexplained(source.sample(one.path, bare)) == ["conversation_history_search"]
    stated = {name: kind for kind, name in re.findall(r'# (\w+):[^\n]*\n\s*"(\w+)"', one.text)}
    assert stated == {name: str(registry.resolve(name).kind) for name in NAMES}


def test_the_registry_cannot_be_changed_while_the_process_runs() -> None:
    with pytest.raises(TypeError):
        registry.ENTRIES["run_anything"] = registry.Entry("os.system")  # type: ignore[index]
    module = import_module("tools.boundary.registry")
    assert not [name for name in vars(module) if name.startswith(("register", "add_"))]


@pytest.mark.req("REG-009")
def test_barred_families_have_not_come_back() -> None:
    assert [name for name in names_in_source() if BARRED.search(name)] == []
    assert [frame for frame in Kind if BARRED.search(frame)] == []
    assert BARRED.search("create_ticket")
    assert BARRED.search("show_action_card")


@pytest.mark.req("BND-001")
def test_only_the_boundary_calls_a_tool() -> None:
    callers = [
        one.at(node, ast.unparse(node.func))
        for one in source.runtime_sources()
        for node in ast.walk(one.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "execute"
        and "descriptor" in ast.unparse(node.func.value)
    ]
    assert [caller.split(":")[0] for caller in callers] == ["tools/boundary/execution.py"]
    importers = {
        one.path
        for one in source.runtime_sources()
        for _, name in source.imports(one)
        if name.startswith("tools.builtin") and not one.path.startswith("tools/builtin/")
    }
    assert importers == {"kaizen/management/commands/build_about_index.py"}

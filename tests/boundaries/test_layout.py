"""Where things lie and what they are called."""

import ast
import os
from collections.abc import Iterable

import pytest

from tests.boundaries.source import ROOT, Source, runtime_sources, sample, test_sources

CODE = {
    "manage.py",
    "kaizen",
    "agents",
    "packages_app",
    "tools",
    "audit",
    "artifacts",
    "templates",
    "requirements.txt",
    "tests",
}
BESIDE = {"README.md", "ARCHITECTURE.md", "LICENSE", "Makefile", "pyproject.toml", "docs"}
SHORTEST = 10  # characters of a docstring that can say anything
# Names that say nothing about what is inside.
VAGUE = {
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "services",
    "service",
    "core",
    "base",
    "misc",
    "manager",
    "managers",
    "lib",
    "shared",
    "stuff",
    "tools_",
}


def root_faults(entries: Iterable[str]) -> list[str]:
    """Entries of the root that no reader expects. Dot-entries are free; `__pycache__` is
    Python's.
    """
    return sorted(
        entry
        for entry in entries
        if not entry.startswith(".") and entry not in CODE | BESIDE | {"__pycache__"}
    )


# Django fixes what these folders are called and what is in them.
GIVEN = ("/migrations/__init__.py", "/management/__init__.py", "/commands/__init__.py")


def docstring_faults(sources: Iterable[Source]) -> list[str]:
    """Every module says what lives in it; generated migrations say it by their name, and a folder
    of tests mirrors the folder it tests.
    """
    return [
        source.at(1, "has no docstring that says what lives here")
        for source in sources
        if not source.is_migration
        and not source.path.endswith(GIVEN)
        and not (source.app == "tests" and source.path.endswith("/__init__.py"))
        and len(ast.get_docstring(source.tree) or "") < SHORTEST
    ]


def package_faults(sources: Iterable[Source]) -> list[str]:
    """Every folder with Python files is a package with an `__init__`."""
    paths = {source.path for source in sources}
    folders = {path.rpartition("/")[0] for path in paths} - {""}
    return sorted(
        f"{folder} has no __init__.py" for folder in folders if f"{folder}/__init__.py" not in paths
    )


def name_faults(sources: Iterable[Source]) -> list[str]:
    return [
        source.at(1, "has a name that says nothing")
        for source in sources
        if VAGUE.intersection(source.path.removesuffix(".py").split("/"))
    ]


def label_faults(sources: Iterable[Source]) -> list[str]:
    """Every application names its label, and no two the same."""
    faults = []
    seen: dict[str, str] = {}
    for source in sources:
        if not source.path.endswith("/apps.py"):
            continue
        for node in configurations(source):
            label = assigned(node, "label")
            if label is None or assigned(node, "name") is None:
                faults.append(source.at(node, "does not name both its name and its label"))
            elif label in seen:
                faults.append(source.at(node, f"has the label of {seen[label]}"))
            else:
                seen[label] = source.path
    return faults


def configurations(source: Source) -> list[ast.ClassDef]:
    return [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).endswith("AppConfig") for base in node.bases)
    ]


def assigned(node: ast.ClassDef, name: str) -> str | None:
    for statement in node.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name:
            return str(ast.literal_eval(statement.value))
    return None


@pytest.mark.req("CFG-001")
def test_the_root_holds_what_a_reader_expects_and_nothing_else() -> None:
    assert root_faults(os.listdir(ROOT)) == []
    assert set(os.listdir(ROOT)) >= CODE


def test_a_stray_entry_of_the_root_is_found() -> None:
    assert root_faults(["manage.py", ".ci", "docs", "scripts", "notes.txt"]) == [
        "notes.txt",
        "scripts",
    ]


@pytest.mark.req("TST-001")
def test_every_module_says_what_lives_in_it() -> None:
    assert docstring_faults([*runtime_sources(), *test_sources()]) == []
    assert package_faults([*runtime_sources(), *test_sources()]) == []


def test_a_silent_module_is_found() -> None:
    assert docstring_faults([sample("agents/x.py", "import os"), sample("agents/y.py", '""" """')])
    assert package_faults([sample("agents/x/y.py", "")]) == ["agents/x has no __init__.py"]


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert name_faults([*runtime_sources(), *test_sources()]) == []


@pytest.mark.parametrize("path", ["agents/turns/utils.py", "tools/helpers/x.py", "agents/base.py"])
def test_a_vague_name_is_found(path: str) -> None:
    assert name_faults([sample(path, "")])


def test_every_application_has_an_explicit_label_of_its_own() -> None:
    assert label_faults(runtime_sources()) == []


def test_a_missing_or_repeated_label_is_found() -> None:
    named = """
        class A(AppConfig):
            name = "agents.x"
            label = "x"
    """
    silent = named.replace('label = "x"', "")
    assert label_faults([sample("agents/x/apps.py", silent)])
    assert label_faults([sample("agents/x/apps.py", named), sample("agents/y/apps.py", named)])
    assert label_faults([sample("agents/x/apps.py", named)]) == []

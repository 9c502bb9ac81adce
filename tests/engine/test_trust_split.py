"""Controllers decide and hold nothing: no credential, no journal, no tool reaches their code."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import pytest

from agents import engine
from agents.engine.controllers.host import Controller, Host

FOLDER = Path(engine.__file__).parent
SOURCES = sorted(FOLDER.rglob("*.py"))
EFFECTS = {"call_model", "run_tools", "compact", "checkpoint"}
IMPURE = {"os", "socket", "subprocess", "time", "random", "secrets", "threading", "urllib"}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.req("CFG-006", "ENG-001")
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_engine_and_controllers_import_only_themselves_and_pure_library(path: Path) -> None:
    for name in imported(path):
        root = name.partition(".")[0]
        assert name.startswith("agents.engine") or root in sys.stdlib_module_names, name
        assert root not in IMPURE, name


@pytest.mark.req("CFG-006")
def test_a_host_offers_a_controller_four_things_in_the_engines_own_words() -> None:
    offered = {name: getattr(Host, name) for name in vars(Host) if not name.startswith("_")}
    assert set(offered) == EFFECTS
    for method in offered.values():
        for hint in get_type_hints(method).values():
            parts = getattr(hint, "__args__", (hint,))
            assert {part.__module__.rpartition(".")[0] for part in parts} == {"agents.engine"}


@pytest.mark.req("CFG-006")
def test_controllers_touch_nothing_else_of_their_host() -> None:
    controllers = [path for path in SOURCES if path.parent.name == "controllers"]
    assert len(controllers) >= 3
    touched = {
        node.attr
        for path in controllers
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "host"
    }
    assert touched == EFFECTS
    assert {name for name in vars(Controller) if not name.startswith("_")} == {
        "run",
        "abort",
        "steer",
        "interrupt_for_steering",
        "inactivity_timed_out",
        "inspect",
    }


@pytest.mark.req("CFG-006")
def test_no_controller_knows_another() -> None:
    folder = FOLDER / "controllers"
    for path in folder.glob("*.py"):
        siblings = {name for name in imported(path) if name.startswith("agents.engine.controllers")}
        assert siblings <= {"agents.engine.controllers.host"}, path

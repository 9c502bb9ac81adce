"""The environment is read in one place, and flags are parsed once."""

import ast
import re
from collections.abc import Iterable
from typing import Any

import pytest

from kaizen import environment, flags
from tests.boundaries.source import Source, functions, runtime_sources, sample, strings

READER = "kaizen/environment.py"
# Whoever else touches the environment of the process, and for what.
READERS = {
    "manage.py": "names the settings module and hands the environment to the embedded profile",
    "kaizen/asgi.py": "names the settings module",
    "kaizen/celery.py": "names the settings module",
    "kaizen/bootstrap.py": "runs before anything is installed, and hands it to installers",
    "kaizen/doctor.py": "examines it, broken values included",
    "kaizen/embedded/__main__.py": "adds the addresses of embedded services for a command",
    "kaizen/embedded/trampoline.py": "hands it on across a change of user",
    "kaizen/local_model/__main__.py": "a process of its own, without Django",
    "kaizen/supervision/__main__.py": "hands it to the processes it starts",
    "kaizen/supervision/console.py": "NO_COLOR, which every console program reads",
}
FLAG = re.compile(r"[A-Z][A-Z0-9_]*_ENABLED")
FLAG_MODULE = "kaizen/flags.py"


def environment_faults(sources: Iterable[Source]) -> list[str]:
    return [
        source.at(node, "reads the environment")
        for source in sources
        if source.path != READER and source.path not in READERS
        for node in ast.walk(source.tree)
        if (
            isinstance(node, ast.Attribute)
            and ast.unparse(node) in {"os.environ", "os.getenv", "os.environb"}
        )
        or (
            isinstance(node, ast.ImportFrom)
            and node.module == "os"
            and {alias.name for alias in node.names} & {"environ", "getenv"}
        )
    ]


def flag_faults(sources: Iterable[Source]) -> list[str]:
    """A flag's name stands in one module; everyone else reads a field of `settings.FLAGS`."""
    return [
        source.at(node, f"names the flag {node.value}")
        for source in sources
        if source.path != FLAG_MODULE
        for node in strings(source)
        if FLAG.fullmatch(node.value)
    ]


def boolean_faults(source: Source) -> list[str]:
    """In the module of flags every field is read by the strict reader, and none by another."""
    reads = [
        node
        for function in functions(source.tree)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("environment.")
    ]
    return [
        source.at(node, "is not read as a boolean")
        for node in reads
        if ast.unparse(node.func) != "environment.boolean"
    ]


@pytest.mark.req("CFG-003")
def test_the_environment_is_read_in_one_place() -> None:
    assert environment_faults(runtime_sources()) == []


@pytest.mark.req("CFG-003")
def test_flags_are_named_and_parsed_in_one_module() -> None:
    assert flag_faults(runtime_sources()) == []
    (module,) = [source for source in runtime_sources() if source.path == FLAG_MODULE]
    assert boolean_faults(module) == []


def test_another_reader_is_found() -> None:
    assert environment_faults([sample("agents/x.py", "import os\nos.environ.get('A')")])
    assert environment_faults([sample("agents/x.py", "from os import getenv")])
    assert flag_faults([sample("agents/x.py", "environment.boolean('SANDBOX_ENABLED', False)")])
    assert boolean_faults(sample(FLAG_MODULE, "def read():\n    return environment.text('A')"))


@pytest.mark.req("CFG-003")
@pytest.mark.parametrize("value", ["maybe", "2", "yess", "null", "enabled"])
def test_a_flag_that_cannot_be_read_stops_the_start(monkeypatch: Any, value: str) -> None:
    monkeypatch.setenv("SANDBOX_ENABLED", value)
    with pytest.raises(environment.InvalidSetting, match="SANDBOX_ENABLED"):
        flags.read()


@pytest.mark.req("CFG-003")
@pytest.mark.parametrize(
    ("value", "meant"), [("1", True), ("TRUE", True), ("off", False), ("", False)]
)
def test_a_flag_is_on_or_off(monkeypatch: Any, value: str, meant: bool) -> None:
    monkeypatch.setenv("SANDBOX_ENABLED", value)
    assert flags.read().sandbox_enabled is meant


def test_every_exception_is_still_needed() -> None:
    assert set(READERS) <= {
        source.path for source in runtime_sources() if "os.environ" in source.text
    }

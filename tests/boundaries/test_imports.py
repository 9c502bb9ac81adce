"""Who may import whom, and who may name whom without importing."""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.boundaries.source import (
    PACKAGES,
    ROOT,
    Source,
    functions,
    imports,
    runtime_sources,
    sample,
    strings,
    within,
)

# Libraries and modules that open connections, and the houses that may use them.
NETWORK = (
    "aiohttp",
    "httpx",
    "requests",
    "urllib3",
    "urllib.request",
    "http.client",
    "websockets",
    "openai",
    "socket",
    "ssl",
)
NETWORK_HOUSES = {
    "agents.gateway": "the only way to a model",
    "tools.broker": "egress with a grant",
    "tools.sandbox": "talks to the package runner",
    "tools.effects": "the remote adapter of claims",
}
NETWORK_FILES = {
    "agents/turns/worker.py": "the machine's name, for the owner of a lease",
    "kaizen/management/commands/jobs.py": "the machine's name, for the worker's name",
    "kaizen/management/commands/web.py": "binds the listening socket before the server starts",
    "kaizen/model_probe.py": "asks the local model server whether it is up",
    "kaizen/supervision/readiness.py": "asks the own web process whether it is up",
    "kaizen/supervision/port.py": "looks whether the port is free",
    "kaizen/embedded/valkey.py": "asks the embedded broker whether it is up",
    "kaizen/doctor.py": "looks whether the port is free",
}
# Layers from the ground up; a string that names something higher than its house is a hidden
# import.
HEIGHT = {
    "audit": 0,
    "tools.effects": 1,
    "tools.boundary": 2,
    "artifacts": 3,
    "packages_app": 3,
    "agents": 4,
    "tools.builtin": 5,
    "kaizen": 6,
}
UPWARD_STRINGS = {
    "tools/boundary/registry.py": "the closed registry of tools, resolved at first use",
}
LOADERS = {"import_module", "__import__", "import_string"}
# Loading by a name that is made at run time.
DYNAMIC = {
    "tools/boundary/registry.py": "the closed registry of tools",
    "kaizen/limits.py": "a literal list of modules that declare limits",
}


# One line that breaks each contract, and the beginning of the contract's name.
SPOILT = [
    ("audit/limits.py", "import kaizen.environment", "The house"),
    ("agents/journal/append.py", "import agents.conversations.models", "Inside agents"),
    ("tools/effects/claims.py", "import tools.boundary.contract", "Inside tools"),
    ("agents/engine/reducer.py", "import audit.reasons", "The engine"),
    ("tools/boundary/contract.py", "import time", "Pure modules"),
    ("agents/turns/driver.py", "import audit.models", "Audit rows"),
    ("tools/builtin/spoilt.py", "import audit.funnel", "Tools leave audit"),
    ("agents/turns/driver.py", "import agents.gateway.providers.script", "Only the gateway"),
    ("agents/api/apps.py", "import tools.boundary.execution", "Doors start nothing"),
    ("agents/journal/models.py", "import agents.journal.append", "No cycles"),
]


def network_faults(sources: Iterable[Source]) -> list[str]:
    return [
        source.at(node, f"imports {name}, which opens connections")
        for source in sources
        if source.app not in NETWORK_HOUSES and source.path not in NETWORK_FILES
        for node, name in imports(source)
        if within(name, *NETWORK)
    ]


def inner_import_faults(sources: Iterable[Source]) -> list[str]:
    """Imports stand at the top; inside a function they hide a cycle."""
    return [
        source.at(inner, f"imports inside {node.name}")
        for source in sources
        for node in functions(source.tree)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    ]


def relative_import_faults(sources: Iterable[Source]) -> list[str]:
    """A relative import stays within its folder."""
    return [
        source.at(node, "imports relatively from another folder")
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ImportFrom) and node.level > 1
    ]


def star_import_faults(sources: Iterable[Source]) -> list[str]:
    return [
        source.at(node, f"imports everything: {name}")
        for source in sources
        for node, name in imports(source)
        if name.endswith(".*")
    ]


def upward_string_faults(sources: Iterable[Source]) -> list[str]:
    """A dotted path of a higher layer in a string is an import that no linter sees."""
    modules = {source.module for source in runtime_sources() if "." in source.module}
    return [
        source.at(node, f"names {node.value!r}, which is above it")
        for source in sources
        if source.path not in UPWARD_STRINGS
        for node in strings(source)
        if height(node.value) > height(source.module)
        and not modules.isdisjoint({node.value, node.value.rpartition(".")[0]})
    ]


def height(name: str) -> int:
    """How high the house of a dotted name stands; what belongs to no house stands on top."""
    return max(
        (level for house, level in HEIGHT.items() if within(name, house)),
        default=max(HEIGHT.values()),
    )


def dynamic_import_faults(sources: Iterable[Source]) -> list[str]:
    """Loading by a name made at run time lets anything in; a literal or a setting can be read."""
    return [
        source.at(node, "loads a module by name")
        for source in sources
        if source.path not in DYNAMIC
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).split(".")[-1] in LOADERS
        and not (node.args and is_readable(node.args[0]))
    ]


def is_readable(name: ast.expr) -> bool:
    return isinstance(name, ast.Constant) or ast.unparse(name).startswith("settings.")


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    program = "from importlinter.cli import lint_imports_command as run; run()"
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.req("AUD-003", "GW-001", "TOOL-020")
def test_the_import_contracts_hold() -> None:
    finished = lint_imports(ROOT)
    assert finished.returncode == 0, finished.stdout


def test_a_forbidden_import_breaks_its_contract(tmp_path: Path) -> None:
    shutil.copy(ROOT / ".importlinter", tmp_path)
    for package in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    for path, line, _ in SPOILT:
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        with file.open("a") as end:
            end.write(f"\n{line}\n")
    finished = lint_imports(tmp_path)
    broken = {text for text in finished.stdout.splitlines() if text.endswith("BROKEN")}
    assert finished.returncode != 0
    for _, line, contract in SPOILT:
        assert any(text.startswith(contract) for text in broken), (line, finished.stdout)


@pytest.mark.req("GW-001")
def test_only_named_houses_open_connections() -> None:
    assert network_faults(runtime_sources()) == []


@pytest.mark.parametrize(
    "line",
    [
        "import httpx",
        "from urllib.request import urlopen",
        "from urllib import request",
        "import http.client as h",
    ],
)
def test_a_connection_from_elsewhere_is_found(line: str) -> None:
    assert network_faults([sample("agents/turns/x.py", line)])
    assert network_faults([sample("agents/gateway/x.py", line)]) == []


def test_imports_stand_at_the_top_and_are_plain() -> None:
    assert inner_import_faults(runtime_sources()) == []
    assert relative_import_faults(runtime_sources()) == []
    assert star_import_faults(runtime_sources()) == []
    assert dynamic_import_faults(runtime_sources()) == []


def test_a_hidden_import_is_found() -> None:
    assert inner_import_faults([sample("agents/x.py", "def f():\n    import os")])
    assert relative_import_faults([sample("agents/x/y.py", "from ..z import a")])
    assert star_import_faults([sample("agents/x.py", "from os import *")])
    assert dynamic_import_faults([sample("agents/x.py", "import_module(name)")])
    assert dynamic_import_faults([sample("agents/x.py", "import_string(settings.LIMITS)()")]) == []


def test_no_string_names_a_higher_layer() -> None:
    assert upward_string_faults(runtime_sources()) == []


def test_a_string_that_reaches_up_is_found() -> None:
    assert upward_string_faults([sample("artifacts/x.py", 'load("agents.turns.driver")')])
    assert (
        upward_string_faults([sample("agents/turns/x.py", 'load("tools.boundary.contract")')]) == []
    )


def test_every_exception_is_still_needed() -> None:
    by_path = {source.path: source for source in runtime_sources()}
    for path in NETWORK_FILES:
        assert any(within(name, *NETWORK) for _, name in imports(by_path[path])), path
    assert set(UPWARD_STRINGS) | set(DYNAMIC) <= set(by_path)

"""What a tool's module may not hold: providers, keys, the audit's writer, conduct of a turn."""

import ast
import re
from collections.abc import Iterable

import pytest

from tests.boundaries import source
from tests.boundaries.source import Source, runtime_sources, sample, within

# Models are asked through the gateway, which only the host of a turn does; rows about calls come
# from the boundary; nothing is streamed, retried or settled by a tool.
BARRED_IMPORTS = (
    "agents.gateway",
    "agents.turns",
    "agents.streaming",
    "agents.engine",
    "agents.prompts",
    "agents.guardrails",
    "agents.journal.append",
    "agents.journal.publication",
    "agents.members.tokens",
    "audit.funnel",
    "audit.models",
    "audit.metrics",
    "httpx",
    "aiohttp",
    "requests",
    "urllib.request",
    "openai",
    "os.environ",
    "kaizen",
)
# Who may act is decided before a tool runs, from material that no tool decodes or keeps.
AUTHORITY = re.compile(
    r"\b(SECRETS?|SECRET_KEY|password|bearer|authori[sz]ation|jwt|session_key|signing|unsign"
    r"|approval_id|capability_ceiling|has_perm|is_superuser|is_staff|fence_token)\b",
    re.IGNORECASE,
)
CONDUCT = re.compile(r"(retr(y|ies)|attempt|backoff|salvag|compact|stream|resume)", re.IGNORECASE)
WAITING = {"asyncio.sleep", "time.sleep", "sleep"}


def tools(sources: Iterable[Source]) -> list[Source]:
    return [one for one in sources if one.path.startswith("tools/builtin/")]


def import_faults(sources: Iterable[Source]) -> list[str]:
    return [
        one.at(node, f"imports {name}")
        for one in tools(sources)
        for node, name in source.imports(one)
        if within(name, *BARRED_IMPORTS)
    ]


def authority_faults(sources: Iterable[Source]) -> list[str]:
    """Names and texts that only code deciding about rights needs."""
    return [
        one.at(node, f"holds {word}")
        for one in tools(sources)
        for node, word in words(one)
        if AUTHORITY.search(word)
    ]


def conduct_faults(sources: Iterable[Source]) -> list[str]:
    """Waiting, and functions, loops or names that try again, stream, salvage or compact."""
    faults = []
    for one in tools(sources):
        for node in ast.walk(one.tree):
            if isinstance(node, ast.Call) and source.called(node) in WAITING:
                faults.append(one.at(node, "waits"))
            elif isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef):
                if CONDUCT.search(node.name):
                    faults.append(one.at(node, f"defines {node.name}"))
                faults += [one.at(inner, "yields") for inner in yields(node)]
            elif isinstance(node, ast.While | ast.For) and tries_again(node):
                faults.append(one.at(node, "tries in a loop"))
    return faults


def yields(function: ast.AST) -> list[ast.AST]:
    """Only an asynchronous generator streams; a plain one is a way to write a list."""
    if not isinstance(function, ast.AsyncFunctionDef):
        return []
    return [node for node in ast.walk(function) if isinstance(node, ast.Yield | ast.YieldFrom)]


def tries_again(loop: ast.While | ast.For) -> bool:
    return any(isinstance(node, ast.Try) for node in ast.walk(loop))


def words(one: Source) -> list[tuple[ast.AST, str]]:
    """Identifiers, attributes and argument names; what is said to people does not count."""
    found: list[tuple[ast.AST, str]] = []
    for node in ast.walk(one.tree):
        if isinstance(node, ast.Name):
            found.append((node, node.id))
        elif isinstance(node, ast.Attribute):
            found.append((node, node.attr))
        elif isinstance(node, ast.arg):
            found.append((node, node.arg))
    return found


@pytest.mark.req("TOOL-018", "TOOL-020")
def test_tools_hold_no_provider_no_key_and_no_writer_of_the_audit() -> None:
    assert import_faults(runtime_sources()) == []


@pytest.mark.req("TOOL-021")
def test_tools_neither_decode_nor_keep_what_proves_a_right() -> None:
    assert authority_faults(runtime_sources()) == []


@pytest.mark.req("TOOL-023")
def test_tools_neither_stream_nor_try_again_nor_conduct_a_turn() -> None:
    assert conduct_faults(runtime_sources()) == []


@pytest.mark.parametrize(
    ("faults", "text"),
    [
        (import_faults, "import openai"),
        (import_faults, "from audit import funnel"),
        (import_faults, "from agents.gateway.stream import stream"),
        (import_faults, "from os import environ"),
        (authority_faults, "def f(request): return request.session_key"),
        (authority_faults, "key = settings.SECRET_KEY"),
        (authority_faults, "def f(password): ..."),
        (conduct_faults, "async def f():\n    await asyncio.sleep(1)"),
        (conduct_faults, "def call_with_retries(): ..."),
        (conduct_faults, "async def f():\n    yield 1"),
        (conduct_faults, "while True:\n    try:\n        f()\n    except OSError:\n        pass"),
    ],
)
def test_a_tool_that_does_more_is_found(faults: object, text: str) -> None:
    assert callable(faults)
    assert faults([sample("tools/builtin/wrong.py", text)])
    assert not faults([sample("tools/boundary/other.py", text)])


CANVAS = re.compile(r"^(Canvas|CANVAS\w*|chat_canvas_outputs)$")
KEEPING = ("artifacts.writing", "artifacts.models", "artifacts.staging", "artifacts.editing")


def canvas_faults(sources: Iterable[Source]) -> list[str]:
    """Modules that know a canvas and can make an artifact, outside the one writer."""
    return [
        one.at(node, f"knows a canvas and imports {name}")
        for one in sources
        if not one.path.startswith("artifacts/")
        and any(CANVAS.match(word) for _, word in words(one))
        for node, name in source.imports(one)
        if within(name, *KEEPING)
    ]


@pytest.mark.req("REG-016")
def test_nothing_that_knows_a_canvas_can_make_an_artifact() -> None:
    assert canvas_faults(runtime_sources()) == []
    keeps = "from artifacts import writing\n"
    assert canvas_faults([sample("agents/x.py", f"{keeps}page = result.chat_canvas_outputs")])
    assert canvas_faults([sample("agents/x.py", f"{keeps}page = result.presentation")]) == []

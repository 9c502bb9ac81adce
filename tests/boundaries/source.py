"""The source as the trip-wires see it: parsed once, never imported."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("kaizen", "agents", "tools", "packages_app", "artifacts", "audit")
SKIPPED = {"__pycache__", "node_modules", "build"}


@dataclass(frozen=True)
class Source:
    """One Python file: its path from the root with forward slashes, and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @property
    def module(self) -> str:
        """Dotted name; a package is named as its folder."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def app(self) -> str:
        """The folder a rule counts as one house: `agents.turns`, `tools.boundary`, `artifacts`."""
        parts = self.path.split("/")
        return ".".join(parts[:2]) if parts[0] in {"agents", "tools"} else parts[0]

    @property
    def is_migration(self) -> bool:
        return "/migrations/" in self.path

    def at(self, node: ast.AST | int, fault: str) -> str:
        line = node if isinstance(node, int) else getattr(node, "lineno", 1)
        return f"{self.path}:{line} {fault}"


def sample(path: str, text: str) -> Source:
    """A source that does not exist, to show that a rule bites."""
    return Source(path, dedent(text).lstrip("\n"))


@cache
def runtime_sources() -> tuple[Source, ...]:
    """Everything that runs in production, migrations included."""
    return (_read(ROOT / "manage.py"), *_below(*PACKAGES))


@cache
def test_sources() -> tuple[Source, ...]:
    """The tests."""
    return tuple(_below("tests"))


test_sources.__test__ = False  # type: ignore[attr-defined]  # pytest takes the name for a test


def imports(source: Source, *, types: bool = True) -> Iterator[tuple[ast.stmt, str]]:
    """Every imported dotted name; `from a import b` gives `a.b`. Without `types`, what is only
    for type checking is left out.
    """
    only_types = {
        inner
        for node in ast.walk(source.tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(source.tree):
        if not types and node in only_types:
            continue
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = _absolute(source, node)
            yield from ((node, f"{start}.{alias.name}") for alias in node.names)


def descriptors(source: Source) -> list[dict[str, ast.expr]]:
    """The keyword arguments of every tool descriptor a module makes."""
    return [
        {keyword.arg or "": keyword.value for keyword in node.keywords}
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("ToolDescriptor")
    ]


def within(name: str, *packages: str) -> bool:
    """Whether a dotted name is one of the packages or lies inside one."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def called(node: ast.Call) -> str:
    """The dotted text of what is called, as it is written."""
    return ast.unparse(node.func)


def strings(source: Source) -> Iterator[ast.Constant]:
    """Every string constant that is no docstring."""
    docstrings = {
        node.body[0].value
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node not in docstrings
        ):
            yield node


def _absolute(source: Source, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = source.module.split(".")
    if not source.path.endswith("__init__.py"):
        package.pop()
    package = package[: len(package) - node.level + 1]
    return ".".join([*package, node.module] if node.module else package)


def _below(*folders: str) -> Iterator[Source]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not SKIPPED.intersection(path.relative_to(ROOT).parts):
                yield _read(path)


def _read(path: Path) -> Source:
    return Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))

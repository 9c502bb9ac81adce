"""Files, functions and nesting stay small enough to read; past the bound, split by subject."""

import ast
from collections.abc import Iterable

import pytest

from tests.boundaries.source import Source, functions, runtime_sources, sample, test_sources

FILE_LINES = 500
FUNCTION_LINES = 60
ARGUMENTS = 7
NESTING = 3
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Match)
# Functions that may take more arguments, and why.
MANY_ARGUMENTS = {
    "kaizen/embedded/launching.py start": "what a process is started with",
    "audit/funnel.py record": "one keyword for each column of the row; `record_all` takes values",
}


def file_faults(sources: Iterable[Source]) -> list[str]:
    return [
        source.at(1, f"has {lines} lines")
        for source in sources
        if not source.is_migration and (lines := source.text.count("\n")) > FILE_LINES
    ]


def function_faults(sources: Iterable[Source]) -> list[str]:
    faults = []
    for source in sources:
        for node in functions(source.tree):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                faults.append(source.at(node, f"{node.name} has {lines} lines"))
            count = arguments(node)
            if count > ARGUMENTS and f"{source.path} {node.name}" not in MANY_ARGUMENTS:
                faults.append(source.at(node, f"{node.name} takes {count} arguments"))
            depth = nesting(node)
            if depth > NESTING:
                faults.append(source.at(node, f"{node.name} nests {depth} deep"))
    return faults


def arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many a caller may give; the object a method is called on is not one of them."""
    names = [
        argument.arg
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    ]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def nesting(node: ast.AST) -> int:
    """Deepest count of blocks inside each other. `elif` is no deeper than its `if`; inner
    functions count anew.
    """
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        chained = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deepest = max(deepest, nesting(child) + (decides(child) and not chained))
    return deepest


def decides(node: ast.AST) -> bool:
    """Whether a block is a level; `with` and a bare `finally` hold something and decide nothing."""
    return isinstance(node, BLOCKS) or (isinstance(node, ast.Try) and bool(node.handlers))


def test_files_are_small() -> None:
    assert file_faults([*runtime_sources(), *test_sources()]) == []


def test_functions_are_small() -> None:
    assert function_faults(runtime_sources()) == []


def test_a_large_file_is_found() -> None:
    assert file_faults([sample("agents/x.py", "x = 1\n" * (FILE_LINES + 1))])
    assert file_faults([sample("agents/x.py", "x = 1\n" * FILE_LINES)]) == []


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n" + "    x = 1\n" * FUNCTION_LINES,
        "def f(a, b, c, d, e, f, *, g, h): ...",
        "class A:\n    def f(self, a, b, c, d, e, f, g, h): ...",
        "def f():\n if a:\n  for b in c:\n   try:\n    if e:\n     pass\n   except E:\n    pass",
        "async def f():\n try:\n  a()\n except E:\n  if b:\n   while c:\n    for d in e:\n     f()",
    ],
)
def test_a_large_function_is_found(text: str) -> None:
    assert function_faults([sample("agents/x.py", text)])


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n    def f(self, a, b, c, d, e, f, g): ...",
        "def f():\n if a:\n  pass\n elif b:\n  pass\n elif c:\n  pass\n elif d:\n  pass",
        "def f():\n for a in b:\n  with c:\n   for d in e:\n    if f:\n     pass",
        "def f():\n try:\n  for a in b:\n   while c:\n    if d:\n     pass\n finally:\n  pass",
    ],
)
def test_a_function_within_the_bounds_is_left_alone(text: str) -> None:
    assert function_faults([sample("agents/x.py", text)]) == []


def test_every_exception_is_still_needed() -> None:
    needed = {
        f"{source.path} {node.name}"
        for source in runtime_sources()
        for node in functions(source.tree)
        if arguments(node) > ARGUMENTS
    }
    assert set(MANY_ARGUMENTS) <= needed

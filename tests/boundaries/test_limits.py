"""Every bound is declared once, with its unit, beside the code that enforces it."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest

from tests.boundaries.source import Source, runtime_sources, sample

# Smaller numbers mean many things; from here on the same number twice is a repeated limit.
SMALLEST_TELLING = 2_000
# Constants that read like bounds of people's work and are none, and what they are.
INTERNAL: dict[str, str] = {
    "kaizen": "bounds processes and connections of the machine, not people's work",
    "agents.engine": "imports nothing; `agents.turns` declares its bounds",
    "agents/conversations/projection.py MAX_PROBLEMS": "length of an error message",
    "agents/api/fields.py MAX_POSITION": "a property of doubles, not a choice",
    "agents/api/model_roles.py MAX_DEPLOYMENTS": "length of a list that is short in practice",
    "agents/gateway/failures.py MAX_ERROR_BODY_BYTES": "how much of an error page is looked at",
    "agents/gateway/providers/script.py MAX_TOKENS": "the scripted model plays in tests only",
    "agents/gateway/providers/scripted.py MAX_REQUEST_BYTES": "the scripted model, likewise",
    "agents/gateway/sse.py MAX_STRAY_BYTES": "how much noise around events is looked through",
    "agents/gateway/usage.py MAX_TOKEN_COUNT": "a larger count of a provider is a mistake",
    "agents/gateway/schemas.py MAX_UPPER_BOUND": "what servers refuse, as measured",
    "agents/gateway/schemas.py MAX_LOWER_BOUND": "what servers refuse, as measured",
    "agents/gateway/schemas.py MAX_PRODUCT": "what servers refuse, as measured",
    "artifacts/kinds/graph.py MAX_PROBLEMS": "length of an error message",
    "tools/boundary/failures.py MAX_EXCEPTION_TEXT": "length of an error message",
    "tools/boundary/schemas.py MAX_PROBLEMS": "length of an error message",
    "tools/boundary/schemas.py MAX_VALUE_SHOWN": "length of an error message",
    "audit/canonical.py MAX_INTEGER": "a property of doubles, not a choice",
    "audit/funnel.py MAX_SUBJECT_ID": "width of a column of ours",
    "audit/verification.py MAX_FINDINGS": "length of a report for operators",
}
# The same number in another module that is no repeated limit, and why.
COINCIDENCES: dict[str, str] = {
    "kaizen/celery.py 400000": "memory of a worker's child, in KiB",
    "kaizen/doctor.py 1048576": "bytes of a mebibyte",
    "kaizen/embedded/__main__.py 2000": "end of a log that is shown",
    "agents/gateway/models.py 32768": "context window of a new deployment, for people to choose",
    "agents/gateway/models.py 4096": "answer length of a new deployment, likewise",
}


@dataclass(frozen=True)
class Declared:
    """One `limit(...)` call: where it stands and what it says."""

    source: Source
    node: ast.Call
    target: str
    name: str
    value: int


def declared(sources: Iterable[Source]) -> Iterator[Declared]:
    """Declarations in their right form: a constant of the module, name and number written out.

    The number may also be an attribute of another module: a setting, or a bound of the engine,
    which imports nothing and so cannot declare it. `value` is 0 then.
    """
    for source in sources:
        for target, value in constants(source):
            one = declaration(source, target, value)
            if one is not None:
                yield one


def declaration(source: Source, target: str, value: ast.expr) -> Declared | None:
    if not (isinstance(value, ast.Call) and is_limit(value) and len(value.args) == 4):
        return None
    name, bound = value.args[:2]
    number = number_of(bound)
    if not isinstance(name, ast.Constant):
        return None
    if number is None and not isinstance(bound, ast.Attribute):
        return None
    return Declared(source, value, target, str(name.value), number or 0)


def constants(source: Source) -> Iterator[tuple[str, ast.expr]]:
    """Assignments at the top of a module, with or without a type."""
    for statement in source.tree.body:
        if isinstance(statement, ast.Assign):
            yield ast.unparse(statement.targets[0]), statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            yield ast.unparse(statement.target), statement.value


def is_limit(node: ast.Call) -> bool:
    return ast.unparse(node.func) in {"limit", "limits.limit"}


def number_of(node: ast.AST) -> int | None:
    """The value of an integer literal or of arithmetic on literals, else None."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.BinOp):
        left, right = number_of(node.left), number_of(node.right)
        if left is None or right is None:
            return None
        match node.op:
            case ast.Mult():
                return left * right
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Pow() if right < 64:
                return int(left**right)
            case ast.LShift() if right < 64:
                return left << right
    return None


def form_faults(sources: Iterable[Source]) -> list[str]:
    """A limit is a constant of its module, written out, with a name nobody else uses."""
    faults = []
    seen: dict[str, str] = {}
    right = {id(one.node): one for one in declared(sources)}
    for source in sources:
        for node in ast.walk(source.tree):
            if (
                not (isinstance(node, ast.Call) and is_limit(node))
                or source.path == "audit/limits.py"
            ):
                continue
            one = right.get(id(node))
            if one is None:
                faults.append(source.at(node, "declares a limit that is no written-out constant"))
                continue
            if not one.target.isupper():
                faults.append(source.at(node, f"{one.target} is not named as a constant"))
            if one.name in seen:
                faults.append(source.at(node, f"declares {one.name} again, as {seen[one.name]}"))
            seen[one.name] = source.path
    return faults


def repeated_faults(sources: Iterable[Source]) -> list[str]:
    """A number that some module declares as a limit is not written again elsewhere.

    A constant with a name of its own is another bound that happens to be as large.
    """
    limits = {one.value: one for one in declared(sources) if one.value >= SMALLEST_TELLING}
    targets = {one.target for one in declared(sources)}
    faults = []
    for source in sources:
        if source.is_migration:
            continue
        named = {
            id(inner)
            for target, value in constants(source)
            if target.isupper() and (target not in targets or isinstance(value, ast.Call))
            for inner in ast.walk(value)
        }
        for node in ast.walk(source.tree):
            number = None if id(node) in named else number_of(node)
            one = limits.get(number or 0)
            coincides = f"{source.path} {number}" in COINCIDENCES
            if one and one.source.path != source.path and not coincides:
                where = f"{one.name} of {one.source.path}"
                faults.append(source.at(node, f"writes {number:,} again, {where}"))
    return faults


def undeclared_faults(sources: Iterable[Source]) -> list[str]:
    """A constant called MAX_… bounds what people do, so it is declared where people can read it."""
    return [
        source.at(value, f"{target} is a bound and is not declared with limit()")
        for source in sources
        for target, value in constants(source)
        if target.startswith("MAX_")
        and number_of(value) is not None
        and source.app not in INTERNAL
        and f"{source.path} {target}" not in INTERNAL
    ]


@pytest.mark.req("CFG-002")
def test_limits_are_constants_with_names_of_their_own() -> None:
    assert form_faults(runtime_sources()) == []
    assert len(list(declared(runtime_sources()))) >= 20


@pytest.mark.req("CFG-002")
def test_no_limit_is_written_twice() -> None:
    assert repeated_faults(runtime_sources()) == []


@pytest.mark.req("CFG-002")
def test_every_bound_is_declared() -> None:
    assert undeclared_faults(runtime_sources()) == []


@pytest.mark.parametrize(
    "text",
    [
        'bound = limit("a.b", 40, "bytes", "A bound.")',
        'def f():\n    X = limit("a.b", 40, "bytes", "A bound.")',
        'X = limit(NAME, 40, "bytes", "A bound.")',
        'X = limit("a.b", size(), "bytes", "A bound.")',
        'X = limit("a.b", 1, "bytes", "A bound.")\nY = limit("a.b", 2, "bytes", "A bound.")',
    ],
)
def test_a_limit_in_another_form_is_found(text: str) -> None:
    assert form_faults([sample("agents/x.py", text)])


@pytest.mark.parametrize(
    "text", ["if size > 65536: ...", "MESSAGE = 64 * 1024", "size = 2**16", "f(limit=1 << 16)"]
)
def test_a_repeated_limit_is_found(text: str) -> None:
    owner = sample("agents/x.py", 'MESSAGE: Final = limit("a.b", 64 * 1024, "bytes", "A bound.")')
    assert repeated_faults([owner, sample("agents/y.py", text)])
    for other in ("from agents.x import MESSAGE", "PIECE = 64 * 1024"):
        assert repeated_faults([owner, sample("agents/y.py", other)]) == []


def test_an_undeclared_bound_is_found() -> None:
    assert undeclared_faults([sample("agents/x.py", "MAX_ROWS = 10 * 10")])


def test_every_exception_is_still_needed() -> None:
    written = {
        f"{source.path} {target}"
        for source in runtime_sources()
        for target, value in constants(source)
        if number_of(value) is not None
    }
    assert {entry for entry in INTERNAL if " " in entry} <= written
    numbers = {
        f"{source.path} {number_of(node)}"
        for source in runtime_sources()
        for node in ast.walk(source.tree)
    }
    assert set(COINCIDENCES) <= numbers

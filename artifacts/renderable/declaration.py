"""How a registered MCP tool says that its result holds a renderable envelope. Pure.

Whether the tool is trusted to say so is decided before: an administrator registered it. The
answer is outputs for the same seam that tools of our own use, and the result without them.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from tools.boundary.contract import ArtifactOutput

DECLARATION: Final = "io.kamiwaza/artifact"
META: Final = "_meta"
VERSION: Final = 2
POINTER: Final = re.compile(r"(/([^~/]|~[01])*)+")
INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")


class Declared(NamedTuple):
    """What a result declares, and what of it a model may read."""

    outputs: tuple[ArtifactOutput, ...]
    result: dict[str, Any]


class _Missing(LookupError):
    """A pointer that leads nowhere."""


def read(result: Mapping[str, Any]) -> Declared:
    """The declared output of a tool's whole result (`content`, `structuredContent`, `_meta`).

    A declaration that cannot be followed is an output without an envelope, so that it is counted
    as not saved. A failed result declares nothing. The declaration is always taken out, and so is
    the envelope it selects.
    """
    meta = result.get(META)
    if not isinstance(meta, Mapping) or DECLARATION not in meta:
        return Declared((), dict(result))
    rest = {name: value for name, value in meta.items() if name != DECLARATION}
    bare = {name: value for name, value in result.items() if name != META}
    if rest:
        bare[META] = rest
    source = _source(meta[DECLARATION])
    try:
        path = _path(source)
        envelope = _selected(bare, path)
    except _Missing:
        path, envelope = (), None
    if path:
        bare = _without(bare, path)
    if result.get("isError"):
        return Declared((), bare)
    return Declared((ArtifactOutput(envelope),), bare)


def _source(declaration: Any) -> str:
    """The pointer of a well-formed declaration, else an empty text, which selects nothing."""
    if not isinstance(declaration, Mapping) or set(declaration) != {"version", "source"}:
        return ""
    version, source = declaration["version"], declaration["source"]
    if isinstance(version, bool) or version != VERSION or not isinstance(source, str):
        return ""
    return source


def _path(source: str) -> tuple[str, ...]:
    """The steps of a JSON pointer (RFC 6901) that selects a part of the result."""
    if not POINTER.fullmatch(source):
        raise _Missing
    steps = source[1:].split("/")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in steps)


def _selected(root: Any, path: tuple[str, ...]) -> Any:
    value = root
    for step in path:
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and INDEX.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            raise _Missing
    return value


def _without(root: Any, path: tuple[str, ...]) -> Any:
    """A copy without what the path selects; a place in a list stays, so that others keep theirs."""
    step, rest = path[0], path[1:]
    if isinstance(root, list):
        index = int(step)
        inner = _without(root[index], rest) if rest else None
        return [*root[:index], inner, *root[index + 1 :]]
    if rest:
        return {**root, step: _without(root[step], rest)}
    return {name: value for name, value in root.items() if name != step}

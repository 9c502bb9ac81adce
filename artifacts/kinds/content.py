"""The kinds of artifacts, and whether a text may become a version of one."""

import re
from enum import StrEnum
from typing import Any, Final

from artifacts.kinds import graph
from artifacts.renderable import attestation
from audit import canonical
from audit.limits import limit
from audit.reasons import Reason
from audit.refusals import FieldProblem, Invalid, Refusal

CONTENT_CHARACTERS = limit(
    "artifact.content", 100_000, "characters", "Length of one version of an artifact."
)
TITLE_CHARACTERS = limit("artifact.title", 200, "characters", "Length of an artifact's title.")
LANGUAGE_CHARACTERS = limit(
    "artifact.language", 40, "characters", "Length of the language name of a code artifact."
)


class Kind(StrEnum):
    """What the content is, which decides how it is checked and shown. HTML and SVG are code."""

    MARKDOWN = "markdown"
    CODE = "code"
    GRAPH = "graph"
    RENDERABLE = "renderable"
    TEXT = "text"


# Renderable content comes with a trusted tool's result, never from a person or a model.
WRITABLE: Final = frozenset(Kind) - {Kind.RENDERABLE}
# The letters of the language of stored envelopes; no code artifact may pretend to be one.
RESERVED_LETTERS: Final = re.sub("[^a-z0-9]", "", attestation.LANGUAGE)
RESERVED: Final = (
    f"The kind {Kind.RENDERABLE} and the language {attestation.LANGUAGE} are kept for the results"
    " of trusted tools; neither can be written."
)
TOLD_CHARACTERS: Final = 300  # of problems in one message; programs get all of them
LANGUAGE: Final = re.compile(r"[a-z0-9][a-z0-9+#._-]*")


class BrokenContract(Invalid):
    """The content does not keep its kind's contract; `expected_schema` is that contract."""

    def __init__(self, found: list[str], expected_schema: dict[str, Any]) -> None:
        told = _told(found).removesuffix(".")  # some problems are sentences of their own
        super().__init__(
            [{"field": "content", "reason": str(Reason.INVALID_FIELD)}],
            f"The content does not keep the contract of its kind: {told}.",
        )
        self.found = found
        self.expected_schema = expected_schema


def _told(found: list[str]) -> str:
    """The first problems, as many as fit into a sentence people read."""
    told = found[:1]
    for problem in found[1:]:
        if len("; ".join([*told, problem])) > TOLD_CHARACTERS:
            return "; ".join(told) + f"; and {len(found) - len(told)} more"
        told.append(problem)
    return "; ".join(told)


def check(*, kind: str, content: str, language: str) -> None:
    """Raise `Invalid` naming every wrong field, or `BrokenContract` for a malformed graph."""
    faults = _heading_faults(kind, language)
    if not content.strip():
        faults.append(_fault("content", Reason.MISSING_FIELD))
    elif len(content) > CONTENT_CHARACTERS:
        faults.append(_fault("content", Reason.TOO_LONG))
    elif not storable(content):
        faults.append(_fault("content", Reason.INVALID_FIELD))
    _refuse(faults, kind, language)
    if kind == Kind.GRAPH:
        found = graph.problems(content)
        if found:
            raise BrokenContract(found, graph.EXPECTED_SCHEMA)


def check_heading(*, kind: str, language: str) -> None:
    """Raise `Invalid` for a kind or language that no written content may have."""
    _refuse(_heading_faults(kind, language), kind, language)


def storable(content: str) -> bool:
    """Whether a text can be kept as it is: no NUL, no half of a character."""
    try:
        canonical.check(content)
    except Refusal:
        return False
    return True


def _heading_faults(kind: str, language: str) -> list[FieldProblem]:
    faults = [] if kind in WRITABLE else [_fault("kind", Reason.INVALID_FIELD)]
    if language and not _fits_language(kind, language):
        faults.append(_fault("language", Reason.INVALID_FIELD))
    return faults


def _refuse(faults: list[FieldProblem], kind: str, language: str) -> None:
    if kind == Kind.RENDERABLE or _pretends(language):
        raise Invalid(faults, RESERVED)
    if faults:
        raise Invalid(faults)


def _fits_language(kind: str, language: str) -> bool:
    """Only code has a language."""
    return (
        kind == Kind.CODE
        and len(language) <= LANGUAGE_CHARACTERS
        and not _pretends(language)
        and bool(LANGUAGE.fullmatch(language))
    )


def _pretends(language: str) -> bool:
    """Whether a language reads like that of envelopes, however its parts are put together."""
    return re.sub("[^a-z0-9]", "", language.lower()) == RESERVED_LETTERS


def _fault(field: str, reason: Reason) -> FieldProblem:
    return {"field": field, "reason": str(reason)}

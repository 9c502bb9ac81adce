"""What a text becomes that a model is writing: for people who watch it before it is kept.

The arguments come from a call that is not complete, so that nothing has been checked yet.
"""

from typing import Any, Final

from artifacts import reading, staging
from artifacts.kinds.content import LANGUAGE_CHARACTERS, TITLE_CHARACTERS, WRITABLE
from audit.reasons import Reason
from audit.refusals import Invalid
from tools.boundary.contract import Described, Generated, Json, RunIdentity
from tools.builtin.acting import member_of
from tools.builtin.artifact_naming import id_of


def new(identity: RunIdentity, arguments: Json) -> Described:
    """An artifact that will be made; raises `Invalid`."""
    title = " ".join(_text(arguments, "title").split())
    kind = _text(arguments, "kind")
    if not 0 < len(title) <= TITLE_CHARACTERS or kind not in WRITABLE:
        raise _invalid("title")
    language = arguments.get("language", "")
    is_short = isinstance(language, str) and len(language) <= LANGUAGE_CHARACTERS
    return Described(title, kind, language.lower() if is_short else "")


def next_version(identity: RunIdentity, arguments: Json) -> Described:
    """The next version of an artifact the member can see; raises `NotFound`."""
    root = reading.artifact(member_of(identity), id_of(_text(arguments, "artifact_id")))
    return Described(root.title, root.kind, artifact_id=str(root.id))


def part(identity: RunIdentity, arguments: Json) -> Described:
    """A part of what this run has begun; raises `NotFound`."""
    draft_id = id_of(_text(arguments, "draft_id"))
    staged = staging.of_run(member_of(identity), identity.run_id, draft_id)
    return Described(staged.title, staged.kind, staged.language)


def _text(arguments: Json, name: str) -> str:
    value: Any = arguments.get(name)
    if not isinstance(value, str):
        raise _invalid(name)
    return value


def _invalid(name: str) -> Invalid:
    return Invalid([{"field": name, "reason": str(Reason.INVALID_FIELD)}])


NEW_TEXT: Final = Generated("content", ("title", "kind"), new)
NEXT_TEXT: Final = Generated("content", ("artifact_id",), next_version)
PART: Final = Generated("content", ("draft_id",), part)

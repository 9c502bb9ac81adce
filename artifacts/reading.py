"""Reading artifacts: lists, exact versions, numbered line ranges and downloads.

Everything goes through `visible_to`, so what is missing and what is hidden look alike.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from artifacts import editing
from artifacts.editing import Line
from artifacts.kinds.content import Kind
from artifacts.models import Artifact, ArtifactVersion
from artifacts.querysets import Actor, ArtifactQuerySet
from artifacts.renderable import envelope
from audit.limits import limit
from audit.refusals import NotFound

RANGE_LINES = limit("artifact.range", 400, "lines", "Lines of an artifact one ranged read returns.")
# A range must fit into what a model reads of one result, with room for the rest of it.
RANGE_BYTES = limit(
    "artifact.range_size", 24_576, "bytes", "Size of the lines one ranged read returns, as JSON."
)
NEWEST: Final = ("-updated_at", "id")
RETURN: Final = "␍"  # a bare carriage return would look like the end of a line
EXTENSIONS: Final = {
    Kind.MARKDOWN: "md",
    Kind.GRAPH: "json",
    Kind.RENDERABLE: "json",
    Kind.TEXT: "txt",
    Kind.CODE: "txt",
}
CODE_EXTENSIONS: Final = {
    "bash": "sh",
    "c": "c",
    "cpp": "cpp",
    "css": "css",
    "csv": "csv",
    "go": "go",
    "html": "html",
    "java": "java",
    "javascript": "js",
    "json": "json",
    "python": "py",
    "rust": "rs",
    "sql": "sql",
    "svg": "svg",
    "toml": "toml",
    "typescript": "ts",
    "xml": "xml",
    "yaml": "yaml",
}


@dataclass(frozen=True)
class LineRange:
    """Lines `first` to `last` of one exact version, each as `number: text`.

    `next_line` is where to read on, None at the end. `tag` marks the whole version's content.
    `ends` says how its lines end (`lf`, `crlf` or `mixed`), `closed` that the last one does too;
    `returns` that a carriage return inside a line is shown as ␍.
    """

    version: int
    tag: str
    first: int
    last: int
    total: int
    text: str
    next_line: int | None
    ends: str
    closed: bool
    returns: bool


@dataclass(frozen=True)
class Download:
    """A version as a file. `name` is safe as a file name; the type never lets a browser run it."""

    name: str
    media_type: str
    body: bytes


def visible(
    actor: Actor, *, conversation_id: UUID | None = None, text: str = "", kind: str = ""
) -> ArtifactQuerySet:
    """Artifacts the actor may see, newest first; `text` filters by title."""
    found: ArtifactQuerySet = Artifact.objects.visible_to(actor).order_by(*NEWEST)
    if conversation_id is not None:
        found = found.made_in(conversation_id)
    if kind:
        found = found.filter(kind=kind)
    return found.filter(title__icontains=text) if text else found


def artifact(actor: Actor, artifact_id: UUID) -> Artifact:
    """One artifact; raises `NotFound` when it is missing or hidden."""
    found: Artifact | None = Artifact.objects.visible_to(actor).filter(id=artifact_id).first()
    if found is None:
        raise NotFound()
    return found


def version(actor: Actor, artifact_id: UUID, number: int | None = None) -> ArtifactVersion:
    """One version with its content, the newest where no number is given; raises `NotFound`."""
    root = artifact(actor, artifact_id)
    wanted = root.head if number is None else number
    found = (
        ArtifactVersion.objects.filter(artifact=root, number=wanted)
        .select_related("artifact")
        .first()
    )
    if found is None:
        raise NotFound()
    return found  # type: ignore[no-any-return]  # querysets are typed as Any rows


def versions(actor: Actor, artifact_id: UUID) -> "QuerySet[Any]":
    """All versions of an artifact, newest first, without their content; raises `NotFound`."""
    root = artifact(actor, artifact_id)
    return ArtifactVersion.objects.filter(artifact=root).defer("content").order_by("-number")


def lines(of: ArtifactVersion, *, first: int = 1, count: int = RANGE_LINES) -> LineRange:
    """Up to 400 numbered lines from line `first` (at least 1).

    Lines are those that hunks name (`editing.split`), without what ends them. Fewer when they would
    grow over the size of one range; a single line that is larger is cut and says so. Past the end
    the range is empty.
    """
    every = editing.split(of.content).lines
    taken: list[str] = []
    room: int = RANGE_BYTES
    wanted = every[first - 1 : first - 1 + min(count, RANGE_LINES)]
    for number, line in enumerate((each.text.replace("\r", RETURN) for each in wanted), first):
        shown = f"{number}: {line}"
        size = _size(shown)
        if size > room and taken:
            break
        taken.append(shown if size <= room else _cut(number, line))
        room -= size
    last = first - 1 + len(taken)
    return LineRange(
        version=of.number,
        tag=of.tag,
        first=first,
        last=last,
        total=len(every),
        text="\n".join(taken),
        next_line=last + 1 if taken and last < len(every) else None,
        ends=_ends(every),
        closed=bool(every[-1].end),
        returns=any("\r" in each.text for each in wanted),
    )


def download(of: ArtifactVersion) -> Download:
    """The exact content of a version as a file to be saved; an envelope says what it is called."""
    body = of.content.encode()
    if of.artifact.kind == Kind.RENDERABLE:
        return Download(envelope.filename(of.content), "application/octet-stream", body)
    stem = re.sub(r"[^\w.-]+", "-", of.artifact.title).strip("-.")[:80] or "artifact"
    extension = CODE_EXTENSIONS.get(of.language) or EXTENSIONS[Kind(of.artifact.kind)]
    return Download(
        name=f"{stem}-v{of.number}.{extension}",
        media_type="application/octet-stream",
        body=body,
    )


def _ends(every: Sequence[Line]) -> str:
    found = {line.end for line in every} - {""}
    return "mixed" if len(found) > 1 else "crlf" if found == {"\r\n"} else "lf"


def _size(line: str) -> int:
    return len(json.dumps(line, ensure_ascii=False).encode())


def _cut(number: int, line: str) -> str:
    """The start of a line that alone is larger than a range; half the room holds any encoding."""
    kept = line[: RANGE_BYTES // 8]
    return f"{number}: {kept}… [{len(kept):,} of {len(line):,} characters of this line shown]"

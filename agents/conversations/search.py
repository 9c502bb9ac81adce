"""Search over what a person may read of conversations: titles, what was asked and answered.

PostgreSQL full text without an extension and without a language: words match by their beginning.
Visibility is decided when the question is asked, never stored with the index.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import (
    BooleanField,
    Exists,
    FloatField,
    OuterRef,
    Q,
    QuerySet,
    TextField,
)
from django.db.models.expressions import RawSQL

from agents.conversations.models import Conversation
from agents.journal.frames import Kind
from agents.journal.models import Entry
from agents.members.models import Member
from audit.limits import limit as declare

QUERY_CHARACTERS = declare(
    "search.query", 200, "characters", "Length of one search over conversations."
)
MOST_WORDS: Final = 8  # of a query; further words are not looked at
HITS_A_CONVERSATION: Final = 3  # one long conversation must not crowd out all others
CANDIDATES: Final = 200  # newest or best matches that are looked at before that rule
LOOSE_WORD: Final = 4  # characters; shorter words say little where any word may match
KINDS: Final = {Kind.INPUT_ACCEPTED: "question", Kind.ASSISTANT_MESSAGE: "answer"}
UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")  # PostgreSQL takes no text with these

EXCERPT_BEFORE: Final = 60  # characters shown ahead of the first word found
EXCERPT_LENGTH: Final = 240

# As in the index `entries_by_words`, word for word.
TEXT: Final = (
    "left(COALESCE(journal_entry.data->>'message', journal_entry.data->>'text', ''), 100000)"
)
TITLE: Final = "conversations_conversation.title"
QUERY: Final = "to_tsquery('simple'::regconfig, %s)"


@dataclass(frozen=True)
class Piece:
    """A part of an excerpt; `found` parts are what was searched for."""

    text: str
    found: bool


@dataclass(frozen=True)
class Hit:
    """One place that matches. `position` is the journal's, None where only the title matches."""

    conversation_id: UUID
    title: str
    position: int | None
    kind: str
    excerpt: tuple[Piece, ...]
    at: datetime

    @property
    def text(self) -> str:
        """The excerpt without its marks."""
        return "".join(piece.text for piece in self.excerpt)


def search(
    *, member: Member, text: str, limit: int, leaving_out_run: UUID | None = None
) -> list[Hit]:
    """Up to `limit` places the member may read now that hold every word, titles first, newest
    first.

    Where none holds every word, places that hold any of the longer ones, best first. An empty
    text answers with the conversations last worked on. `leaving_out_run` skips what one run was
    asked and has said, so that a run does not find itself.
    """
    readable = Conversation.objects.visible_to(member)
    words = UNSTORABLE.sub(" ", text[:QUERY_CHARACTERS]).split()[:MOST_WORDS]
    if not words:
        return _latest(readable, limit)
    every = _expression(words, " & ")
    hits = _titled(readable, every, words, max(1, limit // 2))
    said = _said(readable, every, limit - len(hits), leaving_out_run, by_rank=False)
    telling = [word for word in words if len(word) >= LOOSE_WORD]
    if not hits and not said and len(words) > 1 and telling:
        loose = _expression(telling, " | ")
        said = _said(readable, loose, limit, leaving_out_run, by_rank=True)
    return hits + _shown(readable, said, words)


def _expression(words: Iterable[str], operator: str) -> str:
    """A query of word beginnings. Each word is quoted, so nothing in it is an operator."""
    quoted = (word.replace("\\", "\\\\").replace("'", "''") for word in words)
    return operator.join(f"'{word}':*" for word in quoted)


def _latest(readable: "QuerySet[Any]", limit: int) -> list[Hit]:
    return [
        Hit(one.id, one.title, None, "title", (Piece(one.title, found=False),), one.active_at)
        for one in readable.exclude(title="").order_by("-active_at")[:limit]
    ]


def _titled(readable: "QuerySet[Any]", expression: str, words: list[str], limit: int) -> list[Hit]:
    rows = readable.filter(_matches(TITLE, expression)).order_by("-active_at")[:limit]
    return [
        Hit(one.id, one.title, None, "title", excerpt(one.title, words), one.active_at)
        for one in rows
    ]


def _said(
    readable: "QuerySet[Any]", expression: str, limit: int, run: UUID | None, *, by_rank: bool
) -> list[int]:
    """Ids of entries in order, at most three of each conversation."""
    entries = Entry.objects.filter(
        _matches(TEXT, expression),
        stream_id__in=readable.values("id"),
        kind__in=[str(kind) for kind in KINDS],
    )
    # What was asked is not found by words that were changed or taken back before it was worked.
    changed = Entry.objects.filter(run_id=OuterRef("run_id"), kind=str(Kind.QUEUE_CHANGED))
    entries = entries.exclude(Q(kind=str(Kind.INPUT_ACCEPTED)) & Exists(changed))
    if run is not None:
        entries = entries.filter(Q(run_id__isnull=True) | ~Q(run_id=run))
    if by_rank:
        rank = RawSQL(f"ts_rank({_vector(TEXT)}, {QUERY})", [expression], FloatField())
        entries = entries.order_by(rank.desc(), "-at", "-id")
    else:
        entries = entries.order_by("-at", "-id")
    seen: Counter[UUID] = Counter()
    chosen = []
    for entry_id, stream_id in entries.values_list("id", "stream_id")[:CANDIDATES]:
        seen[stream_id] += 1
        if seen[stream_id] <= HITS_A_CONVERSATION:
            chosen.append(entry_id)
    return chosen[:limit]


def _shown(readable: "QuerySet[Any]", entry_ids: list[int], words: list[str]) -> list[Hit]:
    """The entries as hits, in the order of their ids, as far as they are still readable."""
    entries = Entry.objects.filter(id__in=entry_ids).annotate(text=RawSQL(TEXT, [], TextField()))
    found = {entry.id: entry for entry in entries.defer("data", "private")}
    streams = {entry.stream_id for entry in found.values()}
    titles = dict(readable.filter(id__in=streams).values_list("id", "title"))
    return [
        Hit(
            conversation_id=entry.stream_id,
            title=titles[entry.stream_id],
            position=entry.position,
            kind=KINDS[Kind(entry.kind)],
            excerpt=excerpt(entry.text, words),
            at=entry.at,
        )
        for entry in (found[entry_id] for entry_id in entry_ids)
        if entry.stream_id in titles
    ]


def excerpt(text: str, words: Iterable[str]) -> tuple[Piece, ...]:
    """The neighbourhood of the first word found, on one line, with what was found marked."""
    line = " ".join(text.split())
    beginnings = [re.escape(part) for word in words for part in re.findall(r"\w+", word)]
    longest_first = "|".join(sorted(beginnings, key=len, reverse=True)) or r"(?!)"
    word = re.compile(rf"(?<!\w)(?:{longest_first})\w*", re.IGNORECASE)
    first = word.search(line)
    start = max(0, first.start() - EXCERPT_BEFORE) if first else 0
    start = line.find(" ", start, start + EXCERPT_BEFORE) + 1 if start else 0
    end = start + EXCERPT_LENGTH
    shown = f"{'… ' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
    pieces, at = [], 0
    for match in word.finditer(shown):
        pieces += [Piece(shown[at : match.start()], found=False), Piece(match[0], found=True)]
        at = match.end()
    pieces.append(Piece(shown[at:], found=False))
    return tuple(piece for piece in pieces if piece.text)


def _vector(text: str) -> str:
    return f"to_tsvector('simple'::regconfig, {text})"


def _matches(text: str, expression: str) -> RawSQL:
    return RawSQL(f"{_vector(text)} @@ {QUERY}", [expression], BooleanField())

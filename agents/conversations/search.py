"""Search over what a person may read of conversations: titles, what was asked and answered.

PostgreSQL full text without an extension and without a language: words match by their beginning.
Visibility is decided when the question is asked, never stored with the index.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import BooleanField, FloatField, Q, QuerySet, TextField
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

# Marks around matches inside PostgreSQL's excerpts: characters for private use, which are taken
# out of the text before.
START, STOP = "\ue000", "\ue001"
# As in the index `entries_by_words`, word for word.
TEXT: Final = (
    "left(COALESCE(journal_entry.data->>'message', journal_entry.data->>'text', ''), 100000)"
)
TITLE: Final = "conversations_conversation.title"
QUERY: Final = "to_tsquery('simple'::regconfig, %s)"
SHORTENED: Final = 'MaxFragments=2, MaxWords=30, MinWords=12, FragmentDelimiter=" … "'
WHOLE: Final = "HighlightAll=true"


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
    hits = _titled(readable, every, max(1, limit // 2))
    hits += _said(readable, every, limit - len(hits), leaving_out_run, by_rank=False)
    telling = [word for word in words if len(word) >= LOOSE_WORD]
    if hits or len(words) == 1 or not telling:
        return hits
    return _said(readable, _expression(telling, " | "), limit, leaving_out_run, by_rank=True)


def _expression(words: Iterable[str], operator: str) -> str:
    """A query of word beginnings. Each word is quoted, so nothing in it is an operator."""
    quoted = (word.replace("\\", "\\\\").replace("'", "''") for word in words)
    return operator.join(f"'{word}':*" for word in quoted)


def _latest(readable: "QuerySet[Any]", limit: int) -> list[Hit]:
    return [
        Hit(one.id, one.title, None, "title", (Piece(one.title, found=False),), one.active_at)
        for one in readable.exclude(title="").order_by("-active_at")[:limit]
    ]


def _titled(readable: "QuerySet[Any]", expression: str, limit: int) -> list[Hit]:
    rows = (
        readable.filter(_matches(TITLE, expression))
        .annotate(marked=_excerpt(TITLE, expression, WHOLE))
        .order_by("-active_at")[:limit]
    )
    return [
        Hit(one.id, one.title, None, "title", tuple(_pieces(one.marked)), one.active_at)
        for one in rows
    ]


def _said(
    readable: "QuerySet[Any]", expression: str, limit: int, run: UUID | None, *, by_rank: bool
) -> list[Hit]:
    entries = Entry.objects.filter(
        _matches(TEXT, expression),
        stream_id__in=readable.values("id"),
        kind__in=[str(kind) for kind in KINDS],
    )
    if run is not None:
        entries = entries.filter(Q(run_id__isnull=True) | ~Q(run_id=run))
    if by_rank:
        rank = RawSQL(f"ts_rank({_vector(TEXT)}, {QUERY})", [expression], FloatField())
        entries = entries.order_by(rank.desc(), "-at", "-id")
    else:
        entries = entries.order_by("-at", "-id")
    chosen = _spread(entries.values_list("id", "stream_id")[:CANDIDATES], limit)
    titles = dict(readable.filter(id__in=chosen.values()).values_list("id", "title"))
    # Excerpts are costly, so they are made for the chosen alone.
    rows = Entry.objects.filter(id__in=chosen).annotate(
        marked=_excerpt(TEXT, expression, SHORTENED)
    )
    found = {row.id: row for row in rows.defer("data", "private")}
    return [
        Hit(
            conversation_id=stream_id,
            title=titles[stream_id],
            position=found[entry_id].position,
            kind=KINDS[Kind(found[entry_id].kind)],
            excerpt=tuple(_pieces(found[entry_id].marked)),
            at=found[entry_id].at,
        )
        for entry_id, stream_id in chosen.items()
        if stream_id in titles
    ]


def _vector(text: str) -> str:
    return f"to_tsvector('simple'::regconfig, {text})"


def _matches(text: str, expression: str) -> RawSQL:
    return RawSQL(f"{_vector(text)} @@ {QUERY}", [expression], BooleanField())


def _excerpt(text: str, expression: str, options: str) -> RawSQL:
    marks = f"StartSel={START}, StopSel={STOP}"
    unmarked = f"translate({text}, '{START}{STOP}', '')"
    return RawSQL(
        f"ts_headline('simple'::regconfig, {unmarked}, {QUERY}, '{options}, {marks}')",
        [expression],
        TextField(),
    )


def _spread(rows: Iterable[tuple[int, UUID]], limit: int) -> dict[int, UUID]:
    """The first rows, at most three of each conversation: entry id to conversation id."""
    seen: dict[UUID, int] = {}
    chosen: dict[int, UUID] = {}
    for entry_id, stream_id in rows:
        seen[stream_id] = seen.get(stream_id, 0) + 1
        if seen[stream_id] <= HITS_A_CONVERSATION and len(chosen) < limit:
            chosen[entry_id] = stream_id
    return chosen


def _pieces(marked: str) -> Iterator[Piece]:
    """An excerpt on one line, cut where matches begin and end."""
    for index, part in enumerate(" ".join(marked.split()).split(START)):
        word, _, rest = part.partition(STOP) if index else ("", "", part)
        if word:
            yield Piece(word, found=True)
        if rest:
            yield Piece(rest, found=False)

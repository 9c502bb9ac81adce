"""Anchors: the heads of all chains, said out loud where the database cannot take it back.

Whoever owns the database can rewrite a chain from end to end, and cut its tail together with its
head. A line that left the database before cannot be rewritten with it; `audit.verification`
compares. Each anchor is a row, a log line of the logger `audit.anchor` and, where
`settings.AUDIT_ANCHOR_FILE` names one, a line of that file.
"""

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import connections, transaction

from audit import canonical
from audit.chains import CHAINS, HeadMissing
from audit.limits import limit
from audit.models import Anchor
from audit.refusals import Refusal

MAX_LINE = limit("audit.anchor_line", 4_096, "bytes", "Size of one line of an audit anchor file.")

logger = logging.getLogger("audit.anchor")

# One statement sees one snapshot: the heads of committed transactions only.
READ_HEADS = "SELECT clock_timestamp(), chain, sequence, hash FROM audit_chain_head ORDER BY chain"


class BadAnchorFile(Exception):
    """A line of an anchor file is no anchor; the text names the line."""


@dataclass(frozen=True)
class Heads:
    """The heads of all chains at one time: (sequence, hash), in order of the chains."""

    at: datetime
    places: tuple[tuple[int, str], ...]


def take(*, using: str = "default") -> Heads | None:
    """Anchor the heads and return them, or return None when nothing was recorded since the last
    anchor. Raises `HeadMissing`, and `OSError` for an anchor file that cannot be written.
    """
    with transaction.atomic(using=using):
        now = heads(using=using)
        places = [list(place) for place in now.places]
        last = Anchor.objects.using(using).first()
        if last is not None and last.heads == places:
            return None
        # First outside: when that fails the row is not there either, and the next try says it
        # again.
        say(now)
        Anchor.objects.using(using).create(at=now.at, heads=places)
    return now


def heads(*, using: str = "default") -> Heads:
    """Where all chains end now. Raises `HeadMissing`."""
    with connections[using].cursor() as cursor:
        cursor.execute(READ_HEADS)
        rows = cursor.fetchall()
    if [chain for _, chain, _, _ in rows] != list(range(CHAINS)):
        raise HeadMissing("an audit chain has no head")
    return Heads(at=rows[0][0], places=tuple((sequence, hash_) for _, _, sequence, hash_ in rows))


def say(heads: Heads) -> None:
    """Write the anchor outside the database. An unwritable file is logged as an error and raises
    `OSError`.
    """
    line = to_line(heads)
    logger.info("audit anchor %s", line)
    path = settings.AUDIT_ANCHOR_FILE
    if path is None:
        return
    try:
        _append(Path(path), line)
    except OSError:
        logger.exception("the audit anchor file cannot be written")
        raise


def to_line(heads: Heads) -> str:
    """One anchor as one line of JSON, without the newline."""
    at = heads.at.astimezone(UTC).isoformat(timespec="microseconds")
    return json.dumps(
        {"at": at, "heads": [list(place) for place in heads.places]}, separators=(",", ":")
    )


def read(path: Path) -> Iterator[Heads]:
    """The anchors of a file, in order. Raises `BadAnchorFile` for a line that is none, `OSError`
    for no file.
    """
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                yield _from_line(line)
            except (Refusal, ValueError, TypeError, KeyError):
                raise BadAnchorFile(
                    f"line {number} of {path.name} is not an audit anchor"
                ) from None


def stored(*, using: str = "default") -> Iterator[Heads | None]:
    """The anchors kept in the database, oldest first; None for a row that is no anchor any more."""
    for anchor in Anchor.objects.using(using).order_by("id").iterator():
        try:
            yield _from_parts(anchor.at, anchor.heads)
        except (ValueError, TypeError):
            yield None


def _from_line(line: bytes) -> Heads:
    value = canonical.parse(line, limit_bytes=MAX_LINE)
    return _from_parts(datetime.fromisoformat(value["at"]), value["heads"])


def _from_parts(at: datetime, heads: list[list[object]]) -> Heads:
    places = tuple((sequence, hash_) for sequence, hash_ in heads)
    fits = len(places) == CHAINS and all(
        isinstance(sequence, int) and isinstance(hash_, str) for sequence, hash_ in places
    )
    if not fits:
        raise ValueError("an anchor names one sequence and hash for every chain")
    return Heads(at=at, places=places)  # type: ignore[arg-type]  # the check above narrowed it


def _append(path: Path, line: str) -> None:
    """Append and sync; lines of several writers do not mix, because one write below a page is one
    append.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

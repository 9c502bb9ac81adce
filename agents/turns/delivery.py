"""Whether an answer's claim to have delivered a file is true: three outcomes.

What was asked is read from the verb phrase of the member's message: a format behind `from`,
`using` or the like is material, not what is wanted.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from agents.turns.actions import Saved
from agents.turns.formats import Format, named_in, of_file


class Delivery(StrEnum):
    """How a claim compares with what is there."""

    MATCHES = "matches"  # the files are there, or none was asked for: the answer is kept
    UNSUPPORTED = "unsupported"  # success is claimed without a file: the answer is corrected
    HONEST = "honest"  # a question or an admitted failure: the answer is kept


@dataclass(frozen=True)
class Checked:
    """The outcome, and the answer as it may be kept."""

    outcome: Delivery
    text: str


_CLAUSE: Final = re.compile(r"[.!?;]+(?: |$)| (?:and )?then ", re.I)
_MAKING: Final = re.compile(
    r"\b(?:create|make|generate|produce|export|build|prepare|write|save|give|send|deliver|draft"
    r"|render|print|put|need|want|have|get)\b",
    re.I,
)
_TURNING: Final = re.compile(r"\b(?:convert|turn|transform|change|translate)\b", re.I)
_MATERIAL: Final = re.compile(
    r"\b(?:from|using|based\s+on|out\s+of|of|with|about|in\s+the|contained\s+in|attached|like"
    r"|according\s+to)\b",
    re.I,
)
_INTO: Final = re.compile(r"\b(?:to|into|as)\b", re.I)
_SENTENCE: Final = re.compile(r"[^.!?\n]*(?:[.!?](?=\w)[^.!?\n]*)*(?:[.!?]+|\n+|$)")
_DONE: Final = (
    r"(?:created|made|generated|produced|exported|prepared|built|saved|attached|converted|written"
    r"|drafted|finished|delivered|rendered|assembled|put\s+together)"
)
_APOSTROPHE: Final = "['\N{RIGHT SINGLE QUOTATION MARK}]"
_CLAIM: Final = re.compile(
    rf"\b(?:I|we)(?:{_APOSTROPHE}ve|\s+have)?\s+(?:\w+ly\s+|just\s+|now\s+|also\s+)*{_DONE}\b"
    rf"|\b(?:has|have|was|were)\s+(?:now\s+)?(?:been\s+)?(?:\w+ly\s+)?{_DONE}\b"
    r"|\b(?:is|are)\s+(?:now\s+)?(?:ready|attached|available|complete|done)\b"
    rf"|\bhere(?:{_APOSTROPHE}s|\s+is|\s+are)\s+(?:your|the|a)\b"
    r"|\bdownload\b",
    re.I,
)
_DENIED: Final = re.compile(
    rf"\b(?:not|cannot|unable|failed|without|nothing|no|never|neither)\b|n{_APOSTROPHE}t\b", re.I
)
_ABOUT_FILES: Final = re.compile(
    r"\b(?:file|document|download|presentation|deck|report|spreadsheet|workbook|attachment|it)s?\b",
    re.I,
)
_FILE_LINK: Final = re.compile(r"\]\((?!https?://)[^)\s]{0,200}\.([A-Za-z]{3,4})\)")


def asked_for(message: str) -> frozenset[Format]:
    """The formats a message asks to be delivered."""
    if not named_in(message):
        return frozenset()
    lines = (" ".join(line.split()) for line in message.splitlines())
    return frozenset(
        each for line in lines for clause in _CLAUSE.split(line) for each in _wanted(clause)
    )


def delivered(saved: Iterable[Saved]) -> frozenset[Format]:
    """The formats of what the turn kept."""
    found = (of_file(each.name) or of_file(each.media_type.replace("/", ".")) for each in saved)
    return frozenset(each for each in found if each)


def check(answer: str, *, asked: str, saved: Iterable[Saved]) -> Checked:
    """Compare what the answer claims with what was kept; correct an unsupported claim."""
    kept = delivered(saved)
    missing = asked_for(asked) - kept
    if not missing and "](" not in answer:
        return Checked(Delivery.MATCHES, answer)
    claims = [part for part in _sentences(answer) if _claims(part, missing, kept)]
    if not claims:
        return Checked(Delivery.HONEST if missing else Delivery.MATCHES, answer)
    lacking = missing or _linked(answer) - kept
    rest = answer
    for part in claims:
        rest = rest.replace(part, "", 1)
    return Checked(Delivery.UNSUPPORTED, f"{_correction(lacking)}\n\n{rest.strip()}".strip())


def _wanted(clause: str) -> frozenset[Format]:
    turning = _TURNING.search(clause)
    if turning:
        into = _INTO.search(clause, turning.end())
        return named_in(clause[into.start() :]) if into else frozenset()
    making = _MAKING.search(clause)
    if making is None:
        return frozenset()
    wanted = clause[making.end() :]
    material = _MATERIAL.search(wanted)
    return named_in(wanted[: material.start()] if material else wanted)


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE.findall(text) if part.strip()]


def _claims(sentence: str, missing: frozenset[Format], kept: frozenset[Format]) -> bool:
    """Whether a sentence says that a file is there which is not."""
    if _DENIED.search(sentence) or sentence.rstrip().endswith("?"):
        return False
    if _linked(sentence) - kept:
        return True
    if not missing or not _CLAIM.search(sentence):
        return False
    about = named_in(sentence)
    return bool(about & missing) or (not about and bool(_ABOUT_FILES.search(sentence)))


def _linked(text: str) -> frozenset[Format]:
    """Formats of files the text links to as if they were here."""
    found = (of_file(f"x.{match[1]}") for match in _FILE_LINK.finditer(text))
    return frozenset(each for each in found if each)


def _correction(lacking: frozenset[Format]) -> str:
    names = " or ".join(sorted(str(each) for each in lacking)) or "such"
    return f"No {names} file was saved in this turn, so there is none to download."

"""The native formats a file can be delivered in. A closed set."""

import re
from enum import StrEnum
from typing import Final


class Format(StrEnum):
    """What people call it."""

    PDF = "PDF"
    WORD = "Word"
    POWERPOINT = "PowerPoint"
    EXCEL = "Excel"


ENDINGS: Final[dict[str, Format]] = {
    "pdf": Format.PDF,
    "doc": Format.WORD,
    "docx": Format.WORD,
    "ppt": Format.POWERPOINT,
    "pptx": Format.POWERPOINT,
    "xls": Format.EXCEL,
    "xlsx": Format.EXCEL,
}
# How each is named in a sentence. Word is also a word, so it needs company.
NAMED: Final[dict[Format, re.Pattern[str]]] = {
    Format.PDF: re.compile(r"\bpdfs?\b", re.I),
    Format.WORD: re.compile(
        r"(?i:\bdocx?\b|\b(?:ms|microsoft)\s+word\b|\bword[ -](?:doc\w*|file)s?\b)"
        r"|\b(?:as|in|to|into|a)\s+Word\b"
    ),
    Format.POWERPOINT: re.compile(r"\bpower\s?points?\b|\bpptx?\b", re.I),
    Format.EXCEL: re.compile(r"\bexcel\b|\bxlsx?\b", re.I),
}


def of_file(name: str) -> Format | None:
    """The format a file's ending says, None for any other file."""
    _, dot, ending = name.rpartition(".")
    return ENDINGS.get(ending.lower()) if dot else None


def named_in(text: str) -> frozenset[Format]:
    """Every format a text mentions."""
    return frozenset(each for each, pattern in NAMED.items() if pattern.search(text))

"""What the details of an audit row may say: ids, digests, counts and codes.

Pure. Free text, credentials and anything a person or a model wrote stay out, because audit rows
are kept, exported and read by people who may not read the conversations.
"""

import re
from collections.abc import Mapping
from typing import Any

from audit import canonical
from audit.limits import limit

MAX_DETAILS = limit("audit.details", 2_048, "bytes", "Size of the details of one audit row.")
MAX_CODE = limit("audit.code", 120, "characters", "Length of an id or code in an audit row.")
MAX_LIST = limit("audit.list", 32, "count", "Items of one list in the details of an audit row.")
DROPPED = "dropped"  # how many values were left out, instead of what they were

_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
_CODE = re.compile(r"[A-Za-z0-9_.:/+-]*")
_SENSITIVE_KEY = re.compile(
    r"(password|passwd|secret|api_?key|private_?key|authori[sz]ation|cookie|credential|bearer"
    r"|prompt|persona|message|answer|body|text|content|email|signature)s?(_|$)"
)
_TELLING_KEY = re.compile(
    r".*_(id|ids|count|bytes|chars|characters|digest|tokens|version|ms|code|ref)"
)
_SECRET = re.compile(
    r"^(sk|pk|rk|xox[a-z]|gh[a-z]|glpat|hf|kz[a-z]?)[-_]"  # keys that carry their maker's mark
    r"|^eyJ[A-Za-z0-9_-]*\."  # signed tokens
    r"|^A[A-Z]{2}A[A-Z0-9]{16}$"  # cloud access keys
    r"|://"  # addresses may carry credentials and query strings
)
_LONG_TOKEN = re.compile(r"[A-Za-z0-9+/_]{24,}")


class Unfit(ValueError):
    """A detail does not belong in an audit row. The text names the key, never the value."""


def check(details: Mapping[str, Any]) -> None:
    """Raise `Unfit` for the first key or value that does not belong, or for details over their
    size.
    """
    for key, value in details.items():
        problem = _problem(key, value)
        if problem:
            raise Unfit(f"audit detail {key!r:.60}: {problem}")
    if _size(details) > MAX_DETAILS:
        raise Unfit(f"audit details are larger than {MAX_DETAILS} bytes")


def fit(details: Mapping[str, Any]) -> dict[str, Any]:
    """What of `details` may be written; the rest is counted under `dropped`."""
    kept: dict[str, Any] = {}
    for key, value in details.items():
        if (
            key != DROPPED
            and not _problem(key, value)
            and _size({**kept, key: value}) <= MAX_DETAILS - 32
        ):
            kept[key] = value
    if len(kept) < len(details):
        kept[DROPPED] = len(details) - len(kept)
    return kept


def is_code(text: str) -> bool:
    """Whether a text can be an id, a digest or a code rather than something written or secret."""
    if len(text) > MAX_CODE or not _CODE.fullmatch(text) or _SECRET.search(text):
        return False
    return not any(_looks_random(match.group()) for match in _LONG_TOKEN.finditer(text))


def _problem(key: object, value: object, *, nested: bool = False) -> str:
    """Why the pair does not belong, or an empty text."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        return "the key is not a short lower-case name"
    if _SENSITIVE_KEY.search(key) and not _TELLING_KEY.fullmatch(key):
        return "the key names something that is not recorded"
    match value:
        case bool() | None:
            return ""
        case int():
            return "" if abs(value) <= canonical.MAX_INTEGER else "the number is too large"
        case str():
            return "" if is_code(value) else "the value is not an id or code"
        case list() | tuple() if len(value) <= MAX_LIST and not nested:
            return next(filter(None, (_problem(key, item, nested=True) for item in value)), "")
        case dict() if len(value) <= MAX_LIST and not nested:
            pairs = (_problem(inner, item, nested=True) for inner, item in value.items())
            return next(filter(None, pairs), "")
    return "the value is neither a count nor a code nor a short flat list of them"


def _looks_random(token: str) -> bool:
    """Long runs that mix cases and digits are keys; ids and digests of ours are lower-case
    hexadecimal.
    """
    return (
        any(character.isdigit() for character in token)
        and any(character.islower() for character in token)
        and any(character.isupper() for character in token)
    )


def _size(details: Mapping[str, Any]) -> int:
    return len(canonical.dump(dict(details)).encode())

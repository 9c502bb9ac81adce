"""Strict JSON in, canonical JSON and digests out: the one door for every body, socket message and
tool argument.

What `parse` lets in is stored faithfully by PostgreSQL's `jsonb`, and means the same to every
reader: no duplicate keys, no NaN or Infinity, no NUL, no lone surrogates, no integer a double
cannot hold, no bottomless nesting. Pure: no framework, no clock.
"""

import hashlib
import json
import math
import re
from typing import Any, NoReturn

from audit.limits import limit
from audit.reasons import Reason
from audit.refusals import Refusal

MAX_DEPTH = limit(
    "json.depth", 64, "levels", "Deepest nesting of lists and objects in any JSON text."
)
MAX_INTEGER = 2**53  # beyond it a reader that keeps numbers as doubles sees another number
LARGEST_DOUBLE_BITS = 1_023

_BOM = b"\xef\xbb\xbf"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def parse(raw: bytes, *, limit_bytes: int, max_depth: int = MAX_DEPTH) -> Any:
    """Read one JSON text, or raise `Refusal`.

    `BODY_TOO_LARGE` when it has more than `limit_bytes` bytes; `BAD_JSON` for anything that is
    not exactly one JSON value in valid UTF-8 without a byte order mark, and for everything the
    module promises to keep out. The message says what and where, never repeats the text.
    """
    if len(raw) > limit_bytes:
        raise Refusal(Reason.BODY_TOO_LARGE, f"The text is larger than {limit_bytes:,} bytes.")
    if raw.startswith(_BOM):
        _refuse("The JSON text starts with a byte order mark; send plain UTF-8.")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        _refuse(f"The JSON text is not valid UTF-8 (byte {error.start}).")
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        _refuse(f"The JSON text is not well formed (line {error.lineno}, column {error.colno}).")
    except RecursionError:
        _refuse_depth(max_depth)
    # Hooks have seen keys and numbers. Without escapes there is no NUL and no lone surrogate.
    if b"\\u" in raw:
        _walk(value, max_depth)
    elif raw.count(b"[") + raw.count(b"{") > max_depth:
        _measure(value, max_depth)
    return value


def check(value: Any, *, max_depth: int = MAX_DEPTH) -> None:
    """Raise `Refusal(BAD_JSON)` unless `parse` could have produced `value` from some text."""
    _walk(value, max_depth)


def storable(text: str) -> str:
    """The text with every character that cannot be stored replaced, one for one; for words of a
    model, which are kept rather than refused.
    """
    return _UNSTORABLE.sub("\ufffd", text)


def dump(value: Any) -> str:
    """The one text of a value: sorted keys, no blanks, plain UTF-8, numbers as doubles print.

    Equal values give equal texts also after a round trip through `jsonb`, which turns 1e2 into
    100 and -0.0 into 0. Raises `Refusal(BAD_JSON)` for what `check` refuses, except that whole
    numbers over 2**53 are written as the double they stand for.
    """
    _walk(value, MAX_DEPTH, any_integer=True)
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: Any) -> str:
    """`sha256:` and 64 hexadecimal digits over the canonical text."""
    return f"sha256:{hashlib.sha256(dump(value).encode()).hexdigest()}"


def _measure(root: Any, max_depth: int) -> None:
    """Refuse deep nesting of a value that is right otherwise."""
    level = [root] if isinstance(root, list | dict) else []
    for _ in range(max_depth):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return
    _refuse_depth(max_depth)


def _walk(root: Any, max_depth: int, *, any_integer: bool = False) -> None:
    """Look at every value, level by level, so that hostile nesting costs no Python stack."""
    level: list[Any] = [root]
    depth = 0
    while level:
        containers: list[Any] = []
        for value in level:
            if isinstance(value, str):
                _check_text(value)
            elif isinstance(value, dict):
                _check_keys(value)
                containers.append(value.values())
            elif isinstance(value, list | tuple):
                containers.append(value)
            elif value is not None:
                _check_number(value, any_integer=any_integer)
        depth += bool(containers)
        if depth > max_depth:
            _refuse_depth(max_depth)
        level = [inner for container in containers for inner in container]


def _plain(value: Any) -> Any:
    """A copy of a checked value in which numbers print alike wherever they come from."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= MAX_INTEGER else float(value)
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        if value.bit_length() > LARGEST_DOUBLE_BITS:
            _refuse_integer()
        return float(value)
    return value


def _check_number(value: object, *, any_integer: bool) -> None:
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER and not any_integer:
            _refuse_integer()
    elif isinstance(value, float):
        if not math.isfinite(value):
            _refuse_constant()
    else:
        _refuse(f"A {type(value).__name__} cannot be written as JSON.")


def _check_keys(value: dict[Any, Any]) -> None:
    for key in value:
        if not isinstance(key, str):
            _refuse("An object key is not a text.")
        _check_text(key)


def _check_text(text: str) -> None:
    if _UNSTORABLE.search(text):
        _refuse("A text holds a NUL or half a character, which cannot be stored.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        _refuse("An object has the same key twice.")
    return made


def _integer(digits: str) -> int:
    value = int(digits) if len(digits) <= 17 else MAX_INTEGER + 1
    if not -MAX_INTEGER <= value <= MAX_INTEGER:
        _refuse_integer()
    return value


def _fraction(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        _refuse("A number is too large.")
    return value


def _refuse_constant(_: str = "") -> NoReturn:
    _refuse("NaN and Infinity are not JSON.")


def _refuse_integer() -> NoReturn:
    _refuse("A whole number is larger than 2**53; send it as a text.")


def _refuse_depth(max_depth: int) -> NoReturn:
    _refuse(f"Lists and objects are nested deeper than {max_depth} levels.")


def _refuse(message: str) -> NoReturn:
    raise Refusal(Reason.BAD_JSON, message)


_decoder = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_fraction,
    parse_constant=_refuse_constant,
)

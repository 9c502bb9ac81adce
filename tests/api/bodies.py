"""Hostile bodies for every JSON door: what cannot be stored, what readers disagree about, what is
too deep, too long or of the wrong shape. Each kind is small, so that many can be sent.
"""

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any, Final

DEEP: Final = 100
HUGE: Final = 1_048_577

REFUSED: Final[dict[str, bytes]] = {
    "empty text": b" ",
    "cut off": b'{"message": "x',
    "trailing data": b"{} {}",
    "not UTF-8": b'{"message": "\xff"}',
    "byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": '{"message": "x"}'.encode("utf-16"),
    "raw NUL": b'{"message": "a\x00b"}',
    "escaped NUL": b'{"message": "a\\u0000b"}',
    "NUL in a key": b'{"a\\u0000": 1}',
    "lone high surrogate": b'{"message": "\\ud800"}',
    "lone low surrogate": b'{"message": "\\udfff x"}',
    "duplicate key": b'{"message": "a", "message": "b"}',
    "duplicate key inside": b'{"content": {"name": "a", "name": "b"}}',
    "NaN": b'{"days": NaN}',
    "Infinity": b'{"days": -Infinity}',
    "number past doubles": b'{"days": 1e999}',
    "whole number past 2**53": b'{"days": 9007199254740993}',
    "very long number": b'{"days": ' + b"9" * 5_000 + b"}",
    "deep lists": b'{"content": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "unclosed depth": b"[" * 50_000,
    "single quotes": b"{'message': 'x'}",
    "comment": b'{"message": "x" /* y */}',
    "form": b"message=x",
}
WRONG_SHAPE: Final[dict[str, Any]] = {
    "a list": [],
    "a text": "x",
    "a number": 1,
    "null": None,
    "false": False,
    "unknown field": {"surprise": 1},
    "proto field": {"__proto__": {}, "constructor": {}},
    "every field null": dict.fromkeys(
        ("kind", "message", "agent", "deployment", "content", "name", "deployment_id", "turn_id")
    ),
    "numbers for texts": {"kind": 1, "message": 2, "name": 3, "content": 4, "turn_id": 5},
    "lists for texts": {"kind": [], "message": [[]], "name": [{}], "content": [], "turn_id": []},
    "objects for texts": {"message": {}, "kind": {}, "name": {}, "content": {"name": {}}},
}
ODD_TEXTS: Final = (
    "\u202eright to left\u202c",
    "\ufffe\uffff",
    "a\u0301" * 50,
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\r\n\t\v\f\x1b[31m",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "{{7*7}}%s%n$(id)",
    "' OR 1=1; --",
    "x" * 40_000,
    "",
    " ",
    "\u2028\u2029",
)


def odd(seed: int) -> Iterator[Any]:
    """Endless odd JSON values; the same for the same seed."""
    chance = random.Random(seed)
    while True:
        yield _value(chance, depth=0)


def shaped(chance: random.Random, names: Sequence[str], known: Sequence[Any]) -> dict[str, Any]:
    """An object with fields of a door's own, some with values that other doors would take."""
    chosen = [name for name in names if chance.random() < 0.7]
    if chance.random() < 0.1:
        chosen.append("surprise")
    return {
        name: chance.choice(known) if chance.random() < 0.6 else _value(chance, depth=1)
        for name in chosen
    }


def _value(chance: random.Random, depth: int) -> Any:
    pick = chance.randrange(9 if depth < 3 else 6)
    if pick < 2:
        return chance.choice(ODD_TEXTS)
    if pick == 2:
        return chance.choice([0, -1, 2**31, 2**53, -(2**53), 1.5, 1e-300, -0.0])
    if pick < 6:
        return chance.choice([None, True, False, "", [], {}])
    if pick == 6:
        return [_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    names = ("kind", "message", "agent", "content", "name", "persona", "x", "days", "scope")
    return {chance.choice(names): _value(chance, depth + 1) for _ in range(chance.randrange(1, 5))}


def texts(value: Any) -> bytes:
    """The value as JSON text."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")

"""The JSON door: what it lets in is stored faithfully, everything else is refused with a reason."""

import json
import math
from typing import Any

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from audit import canonical
from audit.reasons import Reason
from audit.refusals import Refusal

LIMIT_BYTES = 10_000

texts = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=20)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


def refused(raw: bytes, **bounds: Any) -> Reason:
    with pytest.raises(Refusal) as caught:
        canonical.parse(raw, **{"limit_bytes": LIMIT_BYTES, **bounds})
    return caught.value.reason


def nested(depth: int, opening: str, closing: str, inside: str = "1") -> bytes:
    return (opening * depth + inside + closing * depth).encode()


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"  \n", id="blanks only"),
        pytest.param(b"\xef\xbb\xbf{}", id="byte order mark"),
        pytest.param("{}".encode("utf-16"), id="another encoding"),
        pytest.param(b'"\xff"', id="invalid UTF-8"),
        pytest.param(b'"\xed\xa0\x80"', id="encoded surrogate"),
        pytest.param(b'"\xc0\xaf"', id="overlong encoding"),
        pytest.param(b'"a\x00b"', id="raw NUL"),
        pytest.param(b'"\\u0000"', id="escaped NUL"),
        pytest.param(b'{"a\\u0000":1}', id="escaped NUL in a key"),
        pytest.param(b'"\\ud800"', id="lone high surrogate"),
        pytest.param(b'"\\udc00x"', id="lone low surrogate"),
        pytest.param(b'{"\\ud83d":1}', id="lone surrogate in a key"),
        pytest.param(b'"tab\there"', id="raw control character"),
        pytest.param(b'{"a":1,"a":2}', id="duplicate key"),
        pytest.param(b'{"a":1,"\\u0061":2}', id="duplicate key by escape"),
        pytest.param(b'[{"x":[{"a":1,"a":1}]}]', id="duplicate key deep inside"),
        pytest.param(b"NaN", id="NaN"),
        pytest.param(b"[Infinity]", id="Infinity"),
        pytest.param(b'{"a":-Infinity}', id="minus Infinity"),
        pytest.param(b"1e999", id="a number that becomes infinite"),
        pytest.param(b"1" * 400 + b".5", id="a long number that becomes infinite"),
        pytest.param(b"9007199254740993", id="integer over 2**53"),
        pytest.param(b"-9007199254740993", id="integer under -2**53"),
        pytest.param(b"9" * 5_000, id="integer of thousands of digits"),
        pytest.param(b"{} {}", id="two values"),
        pytest.param(b"[1,]", id="trailing comma"),
        pytest.param(b"{'a':1}", id="single quotes"),
        pytest.param(b"[1] // why", id="comment"),
        pytest.param(b'{"a"', id="cut off"),
        pytest.param(b"01", id="leading zero"),
        pytest.param(nested(65, "[", "]"), id="65 lists"),
        pytest.param(nested(65, '{"a":', "}"), id="65 objects"),
        pytest.param(nested(65, '{"a":', "}", '"\\u0041"'), id="65 objects around an escape"),
        pytest.param(b"[" * 9_000, id="thousands of opening brackets"),
        pytest.param(nested(4_000, "[", "]"), id="thousands of nested lists"),
    ],
)
def test_it_refuses_what_is_not_strict_json(raw: bytes) -> None:
    assert refused(raw) is Reason.BAD_JSON


def test_it_refuses_a_body_over_its_limit_before_reading_it() -> None:
    assert refused(b"x" * 11, limit_bytes=10) is Reason.BODY_TOO_LARGE
    assert canonical.parse(b"12345     ", limit_bytes=10) == 12345


def test_it_takes_everything_up_to_the_bounds() -> None:
    assert canonical.parse(nested(64, "[", "]"), limit_bytes=LIMIT_BYTES)
    assert canonical.parse(b"[9007199254740992,-9007199254740992]", limit_bytes=99) == [
        2**53,
        -(2**53),
    ]
    assert canonical.parse(b'"\\ud83d\\ude00"', limit_bytes=99) == "😀"
    assert canonical.parse(b'{"a":"\\\\u0000"}', limit_bytes=99) == {"a": "\\u0000"}


def test_a_refusal_says_where_and_never_repeats_the_text() -> None:
    with pytest.raises(Refusal) as caught:
        canonical.parse(b'{"key": hunter2}', limit_bytes=LIMIT_BYTES)
    assert "column 9" in caught.value.message
    assert "hunter2" not in caught.value.message


@given(values)
def test_it_reads_back_every_value_it_writes(value: Any) -> None:
    text = canonical.dump(value)
    assert canonical.parse(text.encode(), limit_bytes=len(text) * 4) == value
    canonical.check(value)


@given(
    st.binary(max_size=200)
    | st.text(max_size=80).map(lambda text: text.encode(errors="surrogatepass"))
)
def test_any_bytes_are_a_value_or_a_refusal(raw: bytes) -> None:
    try:
        value = canonical.parse(raw, limit_bytes=LIMIT_BYTES)
    except Refusal:
        return
    canonical.check(value)
    assert json.loads(raw) == value


@given(values, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_change_the_digest(value: Any, chance: Any) -> None:
    assert canonical.digest(shuffled(value, chance)) == canonical.digest(value)


def shuffled(value: Any, chance: Any) -> Any:
    if isinstance(value, list):
        return [shuffled(item, chance) for item in value]
    if isinstance(value, dict):
        pairs = [(key, shuffled(item, chance)) for key, item in value.items()]
        chance.shuffle(pairs)
        return dict(pairs)
    return value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ([1.0, -0.0, 100, 1e2, 0.5], "[1,0,100,100,0.5]"),
        ([1e22, 10**22, 6.022e23], "[1e+22,1e+22,6.022e+23]"),
        ("ü\u2028\n", '"ü\u2028\\n"'),
        ((1, (2,)), "[1,[2]]"),
    ],
)
def test_a_value_has_one_text(value: Any, text: str) -> None:
    assert canonical.dump(value) == text


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        "\x00",
        "\ud800",
        {"\x00": 1},
        {1: 2},
        b"bytes",
        {1, 2},
        object(),
        10**400,
    ],
)
def test_what_has_no_text_is_refused(value: Any) -> None:
    for door in (canonical.check, canonical.dump):
        with pytest.raises(Refusal) as caught:
            door(value)
        assert caught.value.reason is Reason.BAD_JSON


def test_a_value_that_contains_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(Refusal):
        canonical.dump(value)
    with pytest.raises(Refusal):
        canonical.check(value)


@pytest.mark.usefixtures("db")
def test_digests_survive_a_round_trip_through_the_database() -> None:
    value = canonical.parse(
        b'{"a":[1e2,1.0,-0.0,1e22,1e-7,0.1],"b":"\\u00fc"}', limit_bytes=LIMIT_BYTES
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::jsonb::text", [json.dumps(value)])
        stored = json.loads(cursor.fetchone()[0])
    assert canonical.digest(stored) == canonical.digest(value)

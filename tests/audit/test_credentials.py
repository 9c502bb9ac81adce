"""Credentials are masked in whole texts and in texts that come in pieces."""

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.credentials import BEGUN, MASK, Masking, masked
from tests.patience import promised

KEPT = "plain-words-kept-here"
CREDENTIALS = {
    "sk-" + "aB3-" * 8: "",
    "ghp_" + "a1" * 18: "",
    "github_pat_" + "Ab1_" * 10: "",
    "glpat-" + "x9-_" * 6: "",
    "xoxb-" + "123456789-abc": "",
    "hf_" + "Qq1" * 12: "",
    "AIza" + "Sy-_" * 9: "",
    "AKIA" + "ABCDEFGHIJKLMNOP": "",
    "kz_" + "Zx9" * 12: "",
    "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".abc-123_x": "",
    "Authorization: Bearer " + "abcdef0123456789abcdef": "Authorization: Bearer ",
    "x-api-key: " + "0123456789abcdef-0123": "x-api-key: ",
    "postgresql://kaizen:" + "longpassword" + "@db/kaizen": "postgresql://kaizen:",
    "https://files.example/x?X-Amz-Signature=" + "0123456789abcdef" + "&y=1": "",
    "https://a.example/b?sv=1&sig=" + "abcDEF%2F0123456789": "https://a.example/b?sv=1&sig=",
    "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEabcdefg\nhijk\n-----END RSA PRIVATE KEY-----": "",
    "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXk": "",
    KEPT: "",
}
ORDINARY = (
    "password: choose a long one",
    "def key(token): return token.api_key",
    "the bearer of this letter",
    "sk-1 and a task-based, risk-free plan",
    "http://localhost:8000/path?sig=short",
    "see https://example.org:443/a?b=c&d=e, then x = y_z - 1",
    "AKIA is a marker, eyJ too; -----BEGIN CERTIFICATE----- is public",
    "tabs\tand\nnewlines stay",
)
BODIES = re.compile(
    "aB3-aB3|a1a1a1|Ab1_Ab1|x9-_x9|123456789|Qq1Qq1|Sy-_Sy|CDEFGH|Zx9Zx9|eyJzdW|"
    "f0123456789|longpass|MIIE|b3Blb|words-kept"
)


def streamed(pieces: list[str]) -> str:
    masking = Masking((KEPT,))
    return "".join([*(masking.feed(piece) for piece in pieces), masking.flush()])


def split(text: str, cuts: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:end] for start, end in pairwise(edges)]


@pytest.mark.req("GRD-012")
@pytest.mark.parametrize("credential", CREDENTIALS)
def test_a_whole_text_shows_no_credential(credential: str) -> None:
    text = masked(f"before {credential} after", (KEPT,))
    assert MASK in text
    assert text.startswith(f"before {CREDENTIALS[credential]}")
    assert not BODIES.search(text)


@pytest.mark.req("GRD-012")
@pytest.mark.parametrize("credential", CREDENTIALS)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11, 1000])
def test_a_credential_split_over_pieces_is_masked(credential: str, size: int) -> None:
    text = f"before {credential} after"
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    shown = streamed(pieces)
    assert MASK in shown
    assert shown.startswith("before ")
    assert not BODIES.search(shown)
    if "PRIVATE" not in credential:
        assert shown.endswith(" after")


@pytest.mark.req("GRD-012")
@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from([*CREDENTIALS, *ORDINARY, "Ä ", "\n", "."]), min_size=1, max_size=6),
    st.lists(st.integers(0, 2000), max_size=40),
)
def test_no_way_of_cutting_a_text_lets_a_credential_out(parts: list[str], cuts: list[int]) -> None:
    assert not BODIES.search(streamed(split(" ".join(parts), cuts)))


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(ORDINARY) | st.text(max_size=300), st.lists(st.integers(0, 300)))
def test_ordinary_text_comes_out_as_it_went_in(text: str, cuts: list[int]) -> None:
    assert streamed(split(text, cuts)) == masked(text, (KEPT,)) == text


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_words_are_not_held_back(text: str) -> None:
    masking = Masking((KEPT,))
    for word in re.findall(r"\S+\s*", text):
        shown = masking.feed(word)
        assert shown.endswith(word) or BEGUN.search(word) or BEGUN.search(text)


def test_a_beginning_that_comes_to_nothing_is_shown_in_full() -> None:
    masking = Masking()
    assert masking.feed("the key sk-") == "the key "
    assert masking.feed("abc") == ""
    assert masking.feed(" is short") == "sk-abc is short"
    assert masking.feed(" and eyJ") == " and "
    assert masking.flush() == "eyJ"


def test_what_is_held_back_is_bounded() -> None:
    masking = Masking()
    shown = masking.feed("eyJ") + "".join(masking.feed("abcd") for _ in range(2_000))
    assert len(shown) > 6_000
    assert len(shown) + len(masking.flush()) == 8_003


def test_a_recognised_key_shows_its_mask_at_once_and_nothing_of_what_follows() -> None:
    masking = Masking()
    assert masking.feed("-----BEGIN " + "PRIVATE KEY-----") == MASK
    assert [masking.feed("MIIE" * 50) for _ in range(3)] == ["", "", ""]
    assert masking.feed("-----END PRIV") == ""
    assert masking.feed("ATE KEY----- then") == " then"


@pytest.mark.parametrize(
    "part", ["eyJ-", "://a:", "?sig=", "-----BEGIN ", "x-api-key: ", "kz_", "Bearer "]
)
def test_text_made_to_be_slow_is_not(part: str) -> None:
    text = part * (20_000 // len(part))
    masking = Masking((KEPT,))
    began = time.monotonic()
    for start in range(0, len(text), 4):
        masking.feed(text[start : start + 4])
    masked(text, (KEPT,))
    assert time.monotonic() - began < promised(2)

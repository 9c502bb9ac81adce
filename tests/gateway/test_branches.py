"""What a model writes under the constrained protocol, read in pieces of any size."""

import json

import pytest

from agents.gateway.branches import BranchReader

SIZES = [1, 2, 3, 7, 500]
TEXT = 'Say "hi",\n\tthen \\ go / \u00e9 \U0001f6a2 \ud7ff.'


def fed(whole: str, size: int) -> tuple[BranchReader, list[str]]:
    reader = BranchReader()
    said = [reader.feed(whole[at : at + size]) for at in range(0, len(whole), size)]
    return reader, [piece for piece in said if piece]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_it_decodes_the_answer_as_it_comes(size: int, ensure_ascii: bool) -> None:
    whole = json.dumps({"final": TEXT}, ensure_ascii=ensure_ascii)
    reader, said = fed(whole, size)
    assert "".join(said) == reader.text == TEXT
    assert (reader.tool, reader.close()) == (None, "")
    assert size > 7 or len(said) > 3


@pytest.mark.parametrize("size", SIZES)
def test_it_knows_the_tool_as_soon_as_it_is_named(size: int) -> None:
    opening, rest = ' { "tool" :"look\\u0041"', ', "arguments": {"final": "x"}}'
    reader, said = fed(opening, size)
    assert (reader.tool, said) == ("lookA", [])
    assert reader.feed(rest) == ""
    assert (reader.raw, reader.text, reader.close()) == (opening + rest, "", "")


@pytest.mark.parametrize("size", SIZES)
def test_plain_text_streams_as_it_is(size: int) -> None:
    reader, said = fed(" Just \\ text.", size)
    assert "".join(said) == reader.text == " Just \\ text."


@pytest.mark.parametrize(
    ("whole", "text"),
    [
        ('{"final": "a"} trailing', "a"),
        ('{"final": "a\\x b"}', "a\\x b"),
        ('{"final": "half \\ud83d"}', "half \\ud83d"),
        ('{"final": "lone \\udea2."}', "lone \ufffd."),
        ('{"other": 1}', '{"other": 1}'),
        ('{"final": 7}', '{"final": 7}'),
        ("", ""),
        ("{" + " " * 300, "{" + " " * 300),
    ],
)
@pytest.mark.parametrize("size", SIZES)
def test_it_takes_what_no_grammar_would_write(whole: str, text: str, size: int) -> None:
    reader, said = fed(whole, size)
    assert "".join(said) + reader.close() == reader.text == text
    text.encode()

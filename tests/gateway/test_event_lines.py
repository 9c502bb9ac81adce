"""Where events begin and end, whatever a server does with its lines."""

import pytest

from agents.gateway.sse import MAX_LINE_BYTES, EventReader, EventTooLong

ONE = [b'{"a":1}']
TWO = [b'{"a":1}', b'{"b":2}']


@pytest.mark.parametrize(
    ("reads", "payloads"),
    [
        ([b'data: {"a":1}\n\n', b'data: {"b":2}\n\n'], TWO),
        ([b'data: {"a":1}\rdata: {"b":2}\n\n'], TWO),
        ([b'data: {"a":1}\n\n', b'data: {"a":1}\rdata: {"b":2}\n\n'], [*ONE, *TWO]),
        ([b'data: {"a":1}\r\r', b'data: {"b":2}\r\r'], TWO),
        ([b'data: {"a":1}\n', b'data: {"b":2}\n'], TWO),
        ([b'data: {"a":1}\ndata: {"b":2}'], TWO),
        # An object over several lines, with the end of a line cut in two.
        ([b'data: {"a":\r', b"\ndata: 1}\r\n\r\n"], [b'{"a":\n1}']),
        ([b'data: {"a":\n\ndata: 1}\n\n'], [b'{"a":', b"1}"]),
        ([b"\xef\xbb\xbfdata: ", b'{"a":1}\n\n'], ONE),
        ([b"data:[DONE]"], [b"[DONE]"]),
        ([b"data: [DONE] \n"], [b"[DONE]"]),
        ([b'data: {"a":\ndata: [DONE]\n'], [b'{"a":', b"[DONE]"]),
        ([b": hi\n\nevent: ping\nid: 1\nretry: 5\n\n"], []),
    ],
)
def test_it_finds_the_payloads(reads: list[bytes], payloads: list[bytes]) -> None:
    reader = EventReader()
    found = [payload for read in reads for payload in reader.feed(read)]
    assert found + reader.close() == payloads
    assert (reader.errors, reader.strays) == ([], 0)


def test_an_event_named_error_is_kept_apart() -> None:
    reader = EventReader()
    assert reader.feed(b'event: error\ndata: {"a":1}\n\ndata: {"b":2}\n\n') == [b'{"b":2}']
    assert reader.errors == ONE


def test_lines_of_no_event_stream_are_counted() -> None:
    reader = EventReader()
    assert reader.feed(b"<html>\n<p>hello\n\n") == []
    assert reader.strays == 2


@pytest.mark.parametrize("read", [b"data: " + b"x" * 65_536, b"data: " + b"x" * 65_536 + b"\n"])
def test_it_bounds_what_it_holds(read: bytes) -> None:
    reader = EventReader()
    with pytest.raises(EventTooLong):
        reader.feed(read * (MAX_LINE_BYTES // 65_536 + 1))

"""What a provider can do wrong, and the closed code it becomes."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest

from agents.gateway import stream
from agents.gateway.connection import USUAL, Lifecycle, Timeouts
from agents.gateway.events import FAILURES, CallRefusal, TextDelta, ToolOffer
from agents.gateway.providers import openai_compatible
from agents.gateway.reducer import MAX_CHARACTERS
from audit.reasons import ErrorClass, Reason
from tests.gateway.conftest import HELLO, connect, gather, outcome, said
from tests.gateway.raw_server import Reply, chunk, events, serving
from tests.patience import promised

LEAK = "sk-live-0123456789 for alice at 10.0.0.7"
HTML = ("Content-Type: text/html",)
JSON = ("Content-Type: application/json",)
CONTEXT = b'{"error":{"code":"context_length_exceeded","message":"%s"}}' % LEAK.encode()


async def failure_of(*replies: Reply, lifecycle: Lifecycle = USUAL, **values: object) -> object:
    async with serving(*replies) as server:
        connection = connect(server.url, **values)
        got = await gather(openai_compatible.attempt(connection, HELLO, lifecycle))
    ended = outcome(got)
    assert ended.end == "failed"
    assert ended.calls == ()
    assert "sk-live" not in repr(got)
    return ended.failure


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply([LEAK.encode()], status="400 Bad"), Reason.PROVIDER_REFUSED),
        (Reply([LEAK.encode()], status="401 No"), Reason.PROVIDER_CREDENTIALS),
        (Reply([LEAK.encode()], status="403 No"), Reason.PROVIDER_CREDENTIALS),
        (Reply([LEAK.encode()], status="404 No"), Reason.PROVIDER_REFUSED),
        (Reply([LEAK.encode()], status="408 Slow"), Reason.TIMEOUT),
        (Reply([LEAK.encode()], status="418 Odd"), Reason.PROVIDER_REFUSED),
        (Reply([LEAK.encode()], status="429 Busy"), Reason.RATE_LIMITED),
        (Reply([b"insufficient_quota"], status="429 Broke"), Reason.PROVIDER_REFUSED),
        (Reply([LEAK.encode()], status="500 Oh"), Reason.PROVIDER_UNREACHABLE),
        (Reply([LEAK.encode()], status="504 Slow"), Reason.TIMEOUT),
        (Reply([LEAK.encode()], status="529 Odd"), Reason.PROVIDER_UNREACHABLE),
        (Reply([LEAK.encode()], status="307 Go"), Reason.PROVIDER_GARBAGE),
        (Reply([CONTEXT], status="400 Bad"), Reason.CONTEXT_TOO_LONG),
        (Reply([b"<html>sign in"], headers=HTML), Reason.PROVIDER_GARBAGE),
        (Reply([b"\x00\xff not a stream\n\n"]), Reason.PROVIDER_GARBAGE),
        (Reply([b"data: nonsense\n\ndata: [1, 2]\n\n"]), Reason.PROVIDER_GARBAGE),
        (Reply([b"data: {" + b"x" * (4 << 20) + b"x"]), Reason.PROVIDER_GARBAGE),
        (Reply([]), Reason.PROVIDER_CUT_OFF),
        (Reply([], end="reset"), Reason.PROVIDER_CUT_OFF),
        (Reply([events(chunk("MALFORMED_FUNCTION_CALL"))]), Reason.PROVIDER_EMPTY_RESPONSE),
        (Reply([events(chunk("content_filter"))]), Reason.CONTENT_FILTERED),
        (Reply([events(chunk("error", content="Half"))]), Reason.PROVIDER_CUT_OFF),
        (Reply([b"{}"], headers=JSON), Reason.PROVIDER_CUT_OFF),
    ],
)
@pytest.mark.req("GW-004")
async def test_it_becomes_a_closed_code_without_the_providers_words(
    reply: Reply, code: Reason
) -> None:
    failure = await failure_of(reply)
    assert failure.code is code
    assert failure.error_class is FAILURES[code]


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"error": {"message": LEAK, "code": 429}}, Reason.RATE_LIMITED),
        ({"error": {"message": LEAK, "type": "overloaded_error"}}, Reason.PROVIDER_UNREACHABLE),
        ({"error": {"message": LEAK, "code": "rate_limit_exceeded"}}, Reason.RATE_LIMITED),
        ({"error": {"message": LEAK, "code": 500}}, Reason.PROVIDER_UNREACHABLE),
        ({"error": LEAK}, Reason.PROVIDER_REFUSED),
        ({"object": "error", "message": LEAK, "code": 400}, Reason.PROVIDER_REFUSED),
        ({"error": {"message": "maximum context length is 8192"}}, Reason.CONTEXT_TOO_LONG),
    ],
)
@pytest.mark.req("GW-005")
async def test_an_error_frame_inside_a_good_status_is_a_failure(frame: dict, code: Reason) -> None:
    failure = await failure_of(Reply([events(chunk(content="So "), frame)]))
    assert failure.code is code


async def test_an_event_named_error_is_a_failure() -> None:
    failure = await failure_of(Reply([b'event: error\ndata: {"message": "rate limit"}\n\n']))
    assert failure.code is Reason.RATE_LIMITED


async def test_a_key_does_not_travel_to_another_address() -> None:
    async with serving(Reply([events(chunk("stop", content="Stolen."))])) as elsewhere:
        headers = (f"Location: {elsewhere.url}/chat/completions",)
        failure = await failure_of(Reply(status="307 Go", headers=headers), key="secret")
        assert failure.code is Reason.PROVIDER_GARBAGE
        assert elsewhere.heads == []


async def test_nobody_listens() -> None:
    async with serving(Reply()) as server:
        url = server.url
    got = await gather(openai_compatible.attempt(connect(url), HELLO))
    assert outcome(got).failure.code is Reason.PROVIDER_UNREACHABLE


async def test_a_socket_that_is_not_there(tmp_path: object) -> None:
    connection = connect("http://localhost/v1", unix_socket=f"{tmp_path}/none.sock")
    got = await gather(openai_compatible.attempt(connection, HELLO))
    assert outcome(got).failure.code is Reason.PROVIDER_UNREACHABLE


async def test_a_server_without_tls_where_tls_is_asked_for() -> None:
    async with serving(Reply()) as server:
        url = server.url.replace("http://", "https://")
        connection = connect(url, timeouts=Timeouts(connect_s=0.3))
        got = await gather(openai_compatible.attempt(connection, HELLO))
    assert outcome(got).failure.code is Reason.PROVIDER_UNREACHABLE


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        (Reply([], before_head_s=5), {"timeouts": Timeouts(first_byte_s=0.2)}),
        (Reply([], end="hold"), {"timeouts": Timeouts(first_byte_s=0.2)}),
        (Reply([b": hi\n\n"], end="hold"), {"lifecycle": Lifecycle(idle_s=0.2)}),
        (Reply([b": hi\n\n"] * 99, between_reads_s=0.1), {"lifecycle": Lifecycle(total_s=0.4)}),
    ],
    ids=["no head", "no first byte", "silence", "no end"],
)
@pytest.mark.req("GW-003")
async def test_it_gives_up_on_a_server_that_is_too_slow(reply: Reply, kept: dict) -> None:
    failure = await asyncio.wait_for(failure_of(reply, **kept), promised(3))
    assert failure.code is Reason.TIMEOUT
    assert failure.error_class is ErrorClass.TIMEOUT
    # Only a line that fell silent in the middle is worth another try.
    assert failure.retryable == (kept == {"lifecycle": Lifecycle(idle_s=0.2)})


async def test_comments_keep_a_slow_answer_alive() -> None:
    reads = [b": wait\n\n"] * 6 + [events(chunk("stop", content="Done."))]
    async with serving(Reply(reads, between_reads_s=0.1)) as server:
        kept = Lifecycle(idle_s=0.3)
        got = await gather(openai_compatible.attempt(connect(server.url), HELLO, kept))
    assert outcome(got).text == "Done."


async def test_a_whole_answer_counts_though_the_connection_is_reset() -> None:
    whole = events(chunk(content="Whole."), chunk("stop"), done=False)
    async with serving(Reply([whole], end="reset")) as server:
        got = await gather(openai_compatible.attempt(connect(server.url), HELLO))
    assert (outcome(got).end, outcome(got).text) == ("complete", "Whole.")


async def test_an_end_mark_is_enough_though_the_server_keeps_the_line_open() -> None:
    reply = Reply([events(chunk(content="Whole."), chunk("stop"))], end="hold")
    async with serving(reply) as server:
        read = gather(openai_compatible.attempt(connect(server.url), HELLO))
        got = await asyncio.wait_for(read, 1)
    assert outcome(got).text == "Whole."


async def test_a_server_that_does_not_stream_is_understood() -> None:
    message = {"role": "assistant", "content": "All at once."}
    body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    reply = Reply([events(body, done=False)[6:]], headers=("Content-Type: application/json",))
    async with serving(reply) as server:
        got = await gather(openai_compatible.attempt(connect(server.url), HELLO))
    assert (outcome(got).end, outcome(got).text) == ("complete", "All at once.")


@pytest.mark.parametrize("streams", [True, False])
async def test_an_answer_without_end_is_cut_and_counts_as_broken(streams: bool) -> None:
    piece = "again and again " * 1_000
    if streams:
        reply = Reply([events(chunk(content=piece), done=False) for _ in range(200)])
    else:
        message = {"role": "assistant", "content": piece * 200}
        body = {"choices": [{"message": message, "finish_reason": "stop"}]}
        reply = Reply([events(body, done=False)[6:]], headers=JSON)
    async with serving(reply) as server:
        got = await gather(openai_compatible.attempt(connect(server.url), HELLO))
    ended = outcome(got)
    assert ended.failure is not None
    assert (ended.end, ended.failure.code) == ("failed", Reason.PROVIDER_GARBAGE)
    assert len(ended.text) == len(said(got, TextDelta)) == MAX_CHARACTERS


async def test_halves_of_a_character_in_two_chunks_meet() -> None:
    frame = 'data: {"choices":[{"delta":{"content":"%s"},"finish_reason":%s}]}\n\n'
    reads = [
        (frame % (piece, label)).encode()
        for piece, label in (("go \\ud83d", "null"), ("\\udea2!", "null"), (" \\ud83d", '"stop"'))
    ]
    async with serving(Reply(reads)) as server:
        got = await gather(openai_compatible.attempt(connect(server.url), HELLO))
    assert said(got, TextDelta) == outcome(got).text == "go \U0001f6a2! \ufffd"


@pytest.mark.parametrize("label", ["MALFORMED_FUNCTION_CALL", "pause_turn"])
async def test_an_unknown_label_runs_no_call(label: str) -> None:
    call = {"index": 0, "id": "c", "function": {"name": "go", "arguments": "{}"}}
    failure = await failure_of(Reply([events(chunk(tool_calls=[call]), chunk(label))]))
    assert failure.code is Reason.PROVIDER_GARBAGE


@pytest.mark.parametrize(
    ("raw", "refusal"),
    [
        ('{"a": 1, "a": 2}', CallRefusal.NOT_JSON),
        ('{"a": NaN}', CallRefusal.NOT_JSON),
        ('{"a": "\\u0000"}', CallRefusal.NOT_JSON),
        ('{"a": "\\ud800"}', CallRefusal.NOT_JSON),
        ('{"a": ' + "[" * 70 + "]" * 70 + "}", CallRefusal.NOT_JSON),
        ('{"a": ' + "[" * 9000, CallRefusal.NOT_JSON),
        ('{"a": 1', CallRefusal.NOT_JSON),
        ("[1]", CallRefusal.NOT_AN_OBJECT),
        ("null", CallRefusal.NOT_AN_OBJECT),
        ('{"a": "' + "x" * (1 << 20) + '"}', CallRefusal.TOO_LARGE),
        ('{"a": 1}{"b": 2}', CallRefusal.SEVERAL_OBJECTS),
        ('{}{"a": 1}{"b": 2}', CallRefusal.SEVERAL_OBJECTS),
    ],
    ids=range(12),
)
async def test_unreadable_arguments_are_refused_not_repaired(
    raw: str, refusal: CallRefusal
) -> None:
    call = {"index": 0, "id": "c", "function": {"name": "go", "arguments": raw}}
    reply = Reply([events(chunk(tool_calls=[call]), chunk("tool_calls"))])
    async with serving(reply) as server:
        got = await gather(openai_compatible.attempt(connect(server.url), HELLO))
    (read,) = outcome(got).calls
    assert (read.refusal, read.arguments) == (refusal, None)


@pytest.mark.parametrize("raw", ["", " ", "{}"])
async def test_a_call_without_arguments_is_a_call(raw: str) -> None:
    call = {"index": 0, "id": "c", "function": {"name": "go", "arguments": raw}}
    async with serving(Reply([events(chunk(tool_calls=[call]), chunk("stop"))])) as server:
        got = await gather(openai_compatible.attempt(connect(server.url), HELLO))
    assert [(read.name, read.arguments) for read in outcome(got).calls] == [("go", {})]


@pytest.mark.parametrize(
    ("refused", "left_out", "put_in"),
    [
        (b"unknown field stream_options", "stream_options", None),
        (b"use max_completion_tokens instead", "max_tokens", "max_completion_tokens"),
        (b"reasoning_effort is not supported", "reasoning_effort", None),
    ],
)
async def test_a_member_the_server_does_not_know_is_left_out(
    refused: bytes, left_out: str, put_in: str | None
) -> None:
    good = Reply([events(chunk("stop", content="Fine."))])
    async with serving(Reply([refused], status="400 Bad"), good) as server:
        request = replace(HELLO, effort="high", max_output_tokens=9)
        connection = connect(server.url, takes_effort=True)
        got = await gather(openai_compatible.attempt(connection, request))
    assert outcome(got).text == "Fine."
    first, second = server.bodies
    assert left_out in first
    assert left_out not in second
    assert put_in is None or second[put_in] == 9


async def test_native_schemas_lose_their_bounds_once_a_grammar_is_refused() -> None:
    refusal = Reply([b"Failed to parse grammar"], status="400 Bad")
    parameters = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 2000}}}
    request = replace(HELLO, tools=[ToolOffer("go", "Go.", parameters)])
    async with serving(refusal) as server:
        got = await gather(openai_compatible.attempt(connect(server.url), request))
    assert outcome(got).failure.code is Reason.PROVIDER_GRAMMAR
    first, second = (body["tools"][0]["function"]["parameters"] for body in server.bodies)
    assert first == parameters
    assert second["properties"]["a"] == {"type": "string"}


async def test_closing_the_stream_closes_the_connection() -> None:
    async with serving(Reply([events(chunk(content="So "), done=False)], end="hold")) as server:
        async with aclosing(stream.stream(connect(server.url), HELLO)) as got:
            async for _ in got:
                break
        await asyncio.wait_for(server.closed_by_client.wait(), 2)


async def test_cancelling_the_reader_closes_the_connection() -> None:
    async with serving(Reply([], end="hold")) as server:
        task = asyncio.create_task(gather(stream.stream(connect(server.url), HELLO)))
        await asyncio.wait_for(server.asked.wait(), 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.closed_by_client.wait(), 2)

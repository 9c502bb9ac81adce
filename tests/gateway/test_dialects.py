"""Habits of single servers that are not in the protocol, and what must come out all the same."""

import json
from typing import Any

import pytest

from agents.gateway import watch
from agents.gateway.events import TextDelta, ThinkingDelta, Usage
from agents.gateway.providers import openai_compatible
from audit.reasons import Reason
from tests.gateway.conftest import HELLO, connect, gather, outcome, said
from tests.gateway.raw_server import Reply, chunk, events, serving

STOP = chunk("stop")
JSON = ("Content-Type: application/json",)


async def answered(*replies: Reply, **values: Any) -> Any:
    async with serving(*replies) as server:
        return await gather(openai_compatible.attempt(connect(server.url, **values), HELLO))


@pytest.mark.parametrize(
    "deltas",
    [
        [{"reasoning": "We add."}],
        [{"reasoning_content": "We add."}],
        [{"reasoning_text": "We add."}],
        [{"thinking": "We add."}],
        [{"reasoning": {"content": "We add."}}],
        [{"reasoning_details": [{"type": "reasoning.text", "text": "We add."}]}],
        [{"reasoning": "We ", "reasoning_content": "We "}, {"reasoning": "add."}],
        [
            {
                "content": "",
                "reasoning": "We add.",
                "reasoning_details": [{"type": "reasoning.text", "text": "We add."}],
            }
        ],
        [{"reasoning_content": "", "reasoning": "We add."}],
        [{"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "We add."}]}]}],
        [{"content": [{"type": "thinking", "thinking": "We add."}], "role": "assistant"}],
    ],
    ids=str,
)
@pytest.mark.req("GW-012")
async def test_thinking_is_found_once_wherever_it_stands(deltas: list[dict]) -> None:
    thinks = [chunk(**delta) for delta in deltas]
    text = chunk(content=[{"type": "text", "text": "4"}])
    got = await answered(Reply([events(*thinks, text, STOP)]))
    assert (said(got, ThinkingDelta), said(got, TextDelta)) == ("We add.", "4")
    assert outcome(got).end == "complete"


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([{"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 9}}], (20, 9)),
        ([{"usage": {"prompt_tokens": 20, "completion_tokens": 9}}], (20, 9)),
        ([{"choices": None, "usage": {"prompt_tokens": 20, "completion_tokens": 9}}], (20, 9)),
        ([{"choices": [], "x_groq": {"usage": {"prompt_tokens": 20, "completion_tokens": 9}}}], 0),
        ([{"choices": [], "usage": {"input_tokens": 20, "output_tokens": 9}}], (20, 9)),
        (
            [
                {"usage": {"input_tokens": 20, "output_tokens": 1}, "choices": []},
                {
                    "choices": [],
                    "usage": {
                        "input_tokens": 5,
                        "cache_read_input_tokens": 10,
                        "cache_creation_input_tokens": 5,
                        "output_tokens": 9,
                    },
                },
            ],
            (20, 9, None, 10),
        ),
        ([{"choices": [], "usage": {"prompt_tokens": 20.0, "completion_tokens": 9.0}}], (20, 9)),
        (
            [
                {"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 1}},
                {"choices": [], "usage": {"completion_tokens": 9}},
                {"choices": [], "usage": None},
                {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}},
            ],
            (20, 9),
        ),
        ([{"choices": [], "usage": {"prompt_tokens": -3, "completion_tokens": True}}], None),
        ([{"choices": [], "usage": "many"}], None),
    ],
    ids=str,
)
async def test_usage_is_the_last_report(chunks: list[dict], expected: Any) -> None:
    got = await answered(Reply([events(chunk(content="a"), STOP, *chunks)]))
    wanted = None if expected is None else Usage(*(expected or (20, 9)))
    assert outcome(got).usage == wanted
    assert outcome(got).text == "a"


async def test_usage_beside_the_choice_and_in_detail_is_read() -> None:
    report = {
        "prompt_tokens": 20,
        "completion_tokens": 9,
        "completion_tokens_details": {"reasoning_tokens": 4},
        "prompt_cache_hit_tokens": 16,
    }
    choice = {"index": 0, "delta": {}, "finish_reason": "stop", "usage": report}
    got = await answered(Reply([events(chunk(content="a"), {"choices": [choice]})]))
    assert outcome(got).usage == Usage(20, 9, 4, 16)


@pytest.mark.parametrize(
    ("frame", "code", "retryable"),
    [
        ({"choices": None, "error_message": "Upstream said 400 Bad Request"}, "refused", False),
        ({"choices": [], "error": {"code": 502, "message": "x"}}, "unreachable", True),
        ({"choices": [], "error": {"code": "429", "message": "x"}}, "limited", True),
        ({"error": {"code": None, "message": "prompt is too long"}}, "context", False),
        ({"error": {"type": "invalid_request_error", "message": "x"}}, "refused", False),
        ({"error": {"message": "quota exceeded"}}, "refused", False),
        ({"object": "error", "message": "x", "code": 40303}, "refused", True),
        ({"type": "error", "error": {"type": "overloaded_error"}}, "unreachable", True),
        ({"detail": "Internal Server Error"}, "unreachable", True),
        ({"code": 1302, "msg": "rate limit reached"}, "limited", True),
        ({"errors": [{"message": "rate limit"}]}, "limited", True),
        (
            {"choices": [{"index": 0, "delta": {}, "error": {"code": 503}, "finish_reason": None}]},
            "unreachable",
            True,
        ),
    ],
    ids=str,
)
@pytest.mark.req("GW-004", "GW-005")
async def test_an_error_is_found_in_any_shape(frame: dict, code: str, retryable: bool) -> None:
    codes = {
        "refused": Reason.PROVIDER_REFUSED,
        "unreachable": Reason.PROVIDER_UNREACHABLE,
        "limited": Reason.RATE_LIMITED,
        "context": Reason.CONTEXT_TOO_LONG,
    }
    failure = outcome(await answered(Reply([events(frame)]))).failure
    assert failure is not None
    assert (failure.code, failure.retryable) == (codes[code], retryable)


@pytest.mark.parametrize("headers", [JSON, ("Content-Type: text/event-stream",)])
async def test_a_bare_error_body_with_a_good_status_is_a_failure(headers: tuple[str]) -> None:
    body = json.dumps({"error": {"message": "context length exceeded"}}, indent=2).encode()
    failure = outcome(await answered(Reply([body], headers=headers))).failure
    assert failure is not None
    assert failure.code is Reason.CONTEXT_TOO_LONG


@pytest.mark.parametrize(
    ("labels", "end"),
    [
        (["stop", "stop"], "complete"),
        (["", "STOP"], "complete"),
        (["length", "stop"], "truncated"),
        (["content_filter", "stop"], "failed"),
        (["SENSITIVE"], "failed"),
        (["max_tokens"], "truncated"),
        (["pause_turn"], "complete"),
    ],
)
async def test_a_cut_stays_a_cut_whatever_label_follows(labels: list[str], end: str) -> None:
    got = await answered(Reply([events(chunk(content="a"), *[chunk(one) for one in labels])]))
    assert (outcome(got).text, outcome(got).end) == ("a", end)


@pytest.mark.parametrize("label", ["MALFORMED_FUNCTION_CALL", "unexpected_tool_call", "OTHER"])
async def test_an_unknown_label_never_runs_a_call(label: str) -> None:
    half = {"index": 0, "id": "a", "function": {"name": "send", "arguments": "{}"}}
    got = await answered(Reply([events(chunk(tool_calls=[half]), chunk(label))]))
    assert (outcome(got).calls, outcome(got).end) == ((), "failed")


async def test_a_refusal_in_place_of_an_answer_is_a_failure() -> None:
    got = await answered(Reply([events(chunk(refusal="I will not."), STOP)]))
    failure = outcome(got).failure
    assert failure is not None
    assert failure.code is Reason.CONTENT_FILTERED
    assert "I will not" not in repr(got)


async def test_the_old_name_of_a_call_is_understood() -> None:
    parts = [{"name": "look", "arguments": '{"q"'}, {"arguments": ":1}"}]
    chunks = [chunk(function_call=part, content=None) for part in parts]
    got = await answered(Reply([events(*chunks, chunk("function_call"))]))
    (call,) = outcome(got).calls
    assert (call.name, call.arguments, outcome(got).end) == ("look", {"q": 1}, "tool_calls")


@pytest.mark.parametrize(
    "body",
    [
        b"data: null\n\n" + events(chunk(content="a"), STOP),
        events({"code": 0, "message": "queued"}, {"type": "ping"}, chunk(content="a"), STOP),
        b"".join(json.dumps(one).encode() + b"\n" for one in (chunk(content="a"), STOP)),
        events(chunk(content="a"), STOP, done=False),
        events(chunk(content="a")),
        b"\xef\xbb\xbf" + events(chunk(content="a"), STOP),
        events(chunk(content="a"), STOP).replace(b"\n\n", b"\n"),
        events(chunk(content="a"), STOP, done=False).rstrip(b"\n"),
        events({"choices": [], "prompt_filter_results": []}, chunk(content="a"), STOP),
        events({**chunk(content="a"), "choices": [{"index": 1, "delta": {"content": "b"}}]})[:-14]
        + events(chunk(content="a"), STOP),
    ],
    ids=[
        "null",
        "notes",
        "json lines",
        "no mark",
        "no label",
        "bom",
        "no blank lines",
        "no end",
        "preamble",
        "second",
    ],
)
async def test_the_answer_is_whole_all_the_same(body: bytes) -> None:
    got = await answered(Reply([body]))
    assert (outcome(got).text, outcome(got).end) == ("a", "complete")


async def test_an_event_stream_may_be_called_json_and_json_an_event_stream() -> None:
    got = await answered(Reply([events(chunk(content="a"), STOP)], headers=JSON))
    assert (outcome(got).text, outcome(got).end) == ("a", "complete")
    message = {"index": 0, "message": {"content": "a"}, "finish_reason": "stop"}
    whole = json.dumps({"choices": [message]}).encode() + b"\n\ndata: [DONE]\n\n"
    got = await answered(Reply([whole]))
    assert (outcome(got).text, outcome(got).end) == ("a", "complete")


async def test_one_call_may_come_without_its_list() -> None:
    call = {"id": "a", "function": {"name": "look", "arguments": '{"q": 1}'}}
    got = await answered(Reply([events(chunk(tool_calls=call), chunk("tool_calls"))]))
    assert [(one.name, one.arguments) for one in outcome(got).calls] == [("look", {"q": 1})]


async def test_a_label_on_every_chunk_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "END_GRACE_S", 1.0)
    one, two, three = (
        events(chunk("stop", content=word), done=False) for word in ("Once ", "upon ", "a")
    )
    pause = (b"", b"", b"")
    got = await answered(Reply([one, two, *pause, three], between_reads_s=0.4))
    assert (outcome(got).text, outcome(got).end) == ("Once upon a", "complete")
    # Silence after the first label is still taken for the end.
    got = await answered(Reply([one, *pause, two], between_reads_s=0.4))
    assert (outcome(got).text, outcome(got).end) == ("Once ", "complete")


async def test_a_server_that_does_not_stream_is_read_whole() -> None:
    call = {"id": "a", "function": {"name": "look", "arguments": '{"q": 1}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call], "reasoning": "Hm."}
    body = {
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 9},
    }
    got = await answered(Reply([json.dumps(body).encode()], headers=JSON))
    ended = outcome(got)
    assert [(one.name, one.arguments) for one in ended.calls] == [("look", {"q": 1})]
    assert (ended.thinking, ended.usage) == ("Hm.", Usage(20, 9))

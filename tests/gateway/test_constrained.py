"""Tool calls by JSON schema: the same events as from a server with tool calls of its own."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from agents.gateway import stream
from agents.gateway.events import (
    CallRefusal,
    ModelRequest,
    TextDelta,
    ToolCallDelta,
    ToolOffer,
)
from audit.reasons import Reason
from tests.gateway.conftest import HELLO, connect, gather, outcome, said
from tests.gateway.raw_server import Reply, chunk, events, serving

LOOK = ToolOffer(
    "look",
    "Look something up. Then say what was found.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 4000},
            "place": {"$ref": "#/$defs/Place"},
        },
        "required": ["query"],
        "$defs": {"Place": {"type": "string", "maxLength": 80}},
    },
)
OFFER = ModelRequest(messages=HELLO.messages, tools=[LOOK])


def written(*pieces: str, finish: str = "stop") -> Reply:
    """A model that writes these pieces, one network read each."""
    reads = [events(chunk(content=piece), done=False) for piece in pieces]
    return Reply([*reads, events(chunk(finish))], between_reads_s=0.002)


async def answer(reply: Reply, request: ModelRequest = OFFER) -> list[Any]:
    async with serving(reply) as server:
        return await gather(stream.stream(connect(server.url, tool_calls="constrained"), request))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
async def test_the_final_text_streams_while_it_is_written(size: int) -> None:
    text = 'Say "hi",\nthen \\ go \u00e9 \U0001f6a2 \ud7ff.'
    whole = json.dumps({"final": text})
    reply = written(*(whole[at : at + size] for at in range(0, len(whole), size)))
    got = await answer(reply)
    assert said(got, TextDelta) == outcome(got).text == text
    assert (outcome(got).end, outcome(got).calls) == ("complete", ())


async def test_text_comes_before_the_answer_is_whole() -> None:
    read = [events(chunk(content='{"final": "Once '), done=False)]
    got = await answer(Reply(read))
    assert said(got, TextDelta) == outcome(got).text == "Once "
    assert outcome(got).failure.code is Reason.PROVIDER_CUT_OFF


@pytest.mark.parametrize("size", [1, 5, 100])
async def test_a_tool_branch_is_a_call(size: int) -> None:
    whole = json.dumps({"tool": "look", "arguments": {"query": "tides", "n": 2}})
    reply = written(*(whole[at : at + size] for at in range(0, len(whole), size)))
    got = await answer(reply)
    (call,) = outcome(got).calls
    assert (call.name, call.arguments) == ("look", {"query": "tides", "n": 2})
    assert outcome(got).end == "tool_calls"
    assert said(got, TextDelta) == ""
    deltas = [event for event in got if isinstance(event, ToolCallDelta)]
    assert {event.name for event in deltas} == {"look"}
    assert "".join(event.text for event in deltas) == '{"query": "tides", "n": 2}' + "}"
    assert deltas[-1].arguments_so_far_len == len(whole)


@pytest.mark.req("ENG-003")
async def test_a_call_cut_by_the_output_limit_is_refused() -> None:
    got = await answer(written('{"tool": "look", "arguments": {"query": "ti', finish="length"))
    (call,) = outcome(got).calls
    assert (call.refusal, outcome(got).end) == (CallRefusal.TRUNCATED, "truncated")


async def test_an_answer_cut_by_the_output_limit_is_kept() -> None:
    got = await answer(written('{"final": "It is \\u00', finish="length"))
    assert (outcome(got).text, outcome(got).end) == ("It is ", "truncated")


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        ('"tides"', CallRefusal.NOT_AN_OBJECT),
        ('{"a": 1, "a": 2}', CallRefusal.NOT_JSON),
        ("{'a': 1}", CallRefusal.NOT_JSON),
    ],
)
async def test_unreadable_calls_are_refused(arguments: str, refusal: CallRefusal) -> None:
    got = await answer(written(f'{{"tool": "look", "arguments": {arguments}}}'))
    (call,) = outcome(got).calls
    assert (call.name, call.refusal, call.arguments) == ("look", refusal, None)


@pytest.mark.parametrize("text", ["Just text.", '{"weather": "fine"}', "[1, 2]"])
async def test_a_server_that_ignores_the_schema_still_answers(text: str) -> None:
    got = await answer(written(text[:4], text[4:]))
    assert said(got, TextDelta) == outcome(got).text == text


async def test_an_empty_final_text_is_an_answer_without_text() -> None:
    async with serving(written('{"final": ""}')) as server:
        connection = connect(server.url, tool_calls="constrained")
        got = await gather(stream.stream(connection, OFFER))
    ended = outcome(got)
    assert (ended.text, ended.calls, ended.end, ended.failure) == ("", (), "complete", None)
    assert len(server.bodies) == 1


async def test_the_schema_has_one_branch_per_tool_and_one_for_the_answer() -> None:
    async with serving(written('{"final": "Yes."}')) as server:
        await gather(stream.stream(connect(server.url, tool_calls="constrained"), OFFER))
    (body,) = server.bodies
    schema = body["response_format"]["json_schema"]["schema"]
    tool, final = schema["anyOf"]
    assert tool["properties"]["tool"] == {"const": "look"}
    assert tool["properties"]["arguments"]["properties"] == {
        "query": {"type": "string", "minLength": 1},
        "place": {"$ref": "#/$defs/look.Place"},
    }
    assert schema["$defs"] == {"look.Place": {"type": "string", "maxLength": 80}}
    assert final["properties"] == {"final": {"type": "string"}}
    assert "tools" not in body
    assert "- look: Look something up.\n" in body["messages"][0]["content"] + "\n"


async def test_a_refused_grammar_is_tried_once_more_without_bounds() -> None:
    refusal = Reply(
        [b'{"error":{"message":"Failed to initialize samplers: failed to parse grammar"}}'],
        status="400 Bad Request",
    )
    async with serving(refusal, written('{"final": "Yes."}')) as server:
        connection = connect(server.url, tool_calls="constrained")
        got = await gather(stream.stream(connection, OFFER))
    assert (outcome(got).text, outcome(got).attempts) == ("Yes.", 1)
    bounded, bare = (json.dumps(body["response_format"]) for body in server.bodies)
    assert "maxLength" in bounded
    assert "Length" not in bare


async def test_a_grammar_refused_twice_is_a_failure_of_its_own() -> None:
    refusal = Reply([b"failed to parse grammar"], status="400 Bad Request")
    async with serving(refusal) as server:
        connection = connect(server.url, tool_calls="constrained")
        got = await gather(stream.stream(connection, OFFER))
    assert outcome(got).failure.code is Reason.PROVIDER_GRAMMAR
    assert len(server.bodies) == 2


@pytest.mark.parametrize("mode", ["constrained", "none"])
async def test_history_is_told_without_roles_the_model_lacks(mode: str) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a":1}'}}
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Tides?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "High at six."},
        {"role": "user", "content": "And tomorrow?"},
    ]
    async with serving(written("At seven.")) as server:
        connection = connect(server.url, tool_calls=mode)
        await gather(stream.stream(connection, ModelRequest(messages=messages)))
    assert server.bodies[0]["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Tides?"},
        {"role": "assistant", "content": '{"tool": "look", "arguments": {"a":1}}'},
        {"role": "user", "content": "Result of tool look:\nHigh at six.\n\nAnd tomorrow?"},
    ]
    assert "response_format" not in server.bodies[0]


async def test_no_tools_are_sent_to_a_deployment_that_has_none() -> None:
    async with serving(written("Hello.")) as server:
        await gather(stream.stream(connect(server.url, tool_calls="none"), OFFER))
    assert not {"tools", "response_format"} & set(server.bodies[0])


async def test_a_script_plays_both_protocols_alike(
    scripted_url: str, ask: Callable[..., ModelRequest]
) -> None:
    request = ask('call: look {"query": "x"}\nthen:\nsay: "Found\\nit."', tools=[LOOK])
    for mode in ("native", "constrained"):
        connection = connect(scripted_url, tool_calls=mode)
        first = outcome(await gather(stream.stream(connection, request)))
        assert [(call.name, call.arguments) for call in first.calls] == [("look", {"query": "x"})]
        call = {"id": "c", "function": {"name": "look", "arguments": '{"query":"x"}'}}
        history = [
            *request.messages,
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "x"},
        ]
        again = ModelRequest(messages=history, tools=[LOOK])
        second = outcome(await gather(stream.stream(connection, again)))
        assert (second.text, second.end) == ("Found\nit.", "complete")

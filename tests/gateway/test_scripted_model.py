"""The scripted model: a real server that says, calls and breaks what a script tells it."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agents.gateway import stream
from agents.gateway.events import AttemptFailed, ModelRequest, TextDelta, ThinkingDelta, Usage
from agents.gateway.providers import openai_compatible, script, scripted
from audit.reasons import Reason
from tests.gateway.conftest import connect, gather, outcome, said

Ask = Callable[..., ModelRequest]


@pytest.fixture
def reply(scripted_url: str, ask: Ask) -> Callable[..., Any]:
    """`await reply("say: hi")`: the events of one attempt."""

    async def run(text: str, **values: Any) -> Any:
        request = ask(text, **values)
        return await gather(openai_compatible.attempt(connect(scripted_url), request))

    return run


async def test_it_says_thinks_and_reports(reply: Any) -> None:
    got = await reply('think: Let me see.\nsay: "One\\ntwo."\nusage: 20 9')
    assert said(got, ThinkingDelta) == "Let me see."
    assert said(got, TextDelta) == outcome(got).text == "One\ntwo."
    assert outcome(got).usage == Usage(20, 9)


async def test_it_calls_tools_in_parallel_and_in_pieces(reply: Any) -> None:
    got = await reply('split: 2\ncall: look {"a": "\u00e9\u00e8"}\ncall-raw: up {"b":')
    first, second = outcome(got).calls
    assert (first.name, first.arguments) == ("look", {"a": "\u00e9\u00e8"})
    assert (second.name, second.arguments, second.raw) == ("up", None, '{"b":')
    assert outcome(got).end == "tool_calls"


async def test_the_next_step_follows_the_tool_results(scripted_url: str) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Earlier."},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Please:\n```script\ncall: a\nthen:\nsay: Two.\n```\nThanks."},
    ]
    texts = []
    for _ in range(3):
        request = ModelRequest(messages=list(messages))
        ended = outcome(await gather(stream.stream(connect(scripted_url), request)))
        texts.append([ended.text, [call.name for call in ended.calls]])
        messages += [
            {"role": "assistant", "content": ended.text},
            {"role": "tool", "tool_call_id": "x", "content": "ok"},
        ]
    assert texts == [["", ["a"]], ["Two.", []], ["That is done.", []]]


async def test_a_plain_message_is_echoed_and_titled(scripted_url: str, reply: Any) -> None:
    assert outcome(await reply("How are the tides?")).text == "You said: How are the tides?"
    messages = [
        {"role": "system", "content": "Give this conversation a title."},
        {"role": "user", "content": "one two three four five six seven"},
    ]
    got = await gather(stream.stream(connect(scripted_url), ModelRequest(messages=messages)))
    assert outcome(got).text == "one two three four five six"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("fault: status 429 retry-after 2", Reason.RATE_LIMITED),
        ("fault: status 400 message maximum context", Reason.CONTEXT_TOO_LONG),
        ("fault: html", Reason.PROVIDER_GARBAGE),
        ("fault: error overloaded", Reason.PROVIDER_UNREACHABLE),
        ("fault: cut", Reason.PROVIDER_CUT_OFF),
        ("fault: reset", Reason.PROVIDER_CUT_OFF),
        ("fault: garbage", Reason.PROVIDER_GARBAGE),
        ("finish: content_filter", Reason.CONTENT_FILTERED),
    ],
)
async def test_it_breaks_as_told(reply: Any, line: str, code: Reason) -> None:
    assert outcome(await reply(line)).failure.code is code


async def test_a_fault_can_strike_after_some_words(reply: Any) -> None:
    got = await reply("say: Once\nfault: reset")
    assert (outcome(got).text, outcome(got).end) == ("Once", "failed")
    assert outcome(await reply("say: Once\nfault: length")).end == "truncated"


async def test_bytes_split_inside_characters_arrive_whole(reply: Any) -> None:
    assert outcome(await reply("fault: split-bytes\nsay: \u00c6r\u00f8 \U0001f6a2")).text == (
        "\u00c6r\u00f8 \U0001f6a2"
    )


async def test_a_fault_may_strike_a_number_of_times(scripted_url: str, ask: Ask) -> None:
    request = ask("fault: status 429 retry-after 1ms times 2\nsay: At last.")
    for _ in range(2):
        got = await gather(stream.stream(connect(scripted_url), request))
        assert (outcome(got).text, outcome(got).attempts) == ("At last.", 3)
        waits = [event.wait_s for event in got if isinstance(event, AttemptFailed)]
        assert waits == [0.001, 0.001]


async def test_tokens_are_counted_and_paced(reply: Any) -> None:
    full = outcome(await reply("tokens: 100"))
    assert len(full.text.split()) == full.usage.completion_tokens == 100
    started = time.monotonic()
    paced = outcome(await reply("tokens: 10 @ 50/s"))
    assert len(paced.text.split()) == 10
    assert time.monotonic() - started >= 0.15


async def test_it_tells_who_asked_what_and_who_went_away(scripted_url: str, ask: Ask) -> None:
    request = ask("say: Hm\nfault: hang")
    task = asyncio.create_task(gather(stream.stream(connect(scripted_url), request)))
    root = scripted_url.removesuffix("/v1")
    async with aiohttp.ClientSession() as session:

        async def get(path: str) -> Any:
            async with session.get(f"{root}{path}") as answer:
                return await answer.json()

        async def until(count: dict[str, int]) -> None:
            async with asyncio.timeout(3):
                while await get("/scripted/streams") != count:  # noqa: ASYNC110 - no event to wait for
                    await asyncio.sleep(0.02)

        await until({"open": 1, "started": 1, "abandoned": 0})
        task.cancel()
        await until({"open": 0, "started": 1, "abandoned": 1})
        (body,) = await get("/scripted/requests")
        assert body["messages"] == request.messages
        assert (await get("/v1/models"))["data"][0]["id"] == "scripted"


async def test_a_key_is_wanted_where_one_is_set(ask: Ask) -> None:
    app = scripted.application(key="open sesame")
    runner = await scripted.serve(app, host="127.0.0.1", port=0)
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        refused = outcome(await gather(stream.stream(connect(url), ask("say: Hi"))))
        good = connect(url, key="open sesame")
        answered = outcome(await gather(stream.stream(good, ask("say: Hi"))))
    finally:
        await runner.cleanup()
    assert refused.failure.code is Reason.PROVIDER_CREDENTIALS
    assert answered.text == "Hi"


async def test_a_fixture_answers_by_message(tmp_path: Path, ask: Ask) -> None:
    fixture = tmp_path / "answers.json"
    fixture.write_text(json.dumps({"answers": [{"contains": "tides", "script": "say: High."}]}))
    runner = await scripted.serve(scripted.application(fixture=fixture), host="127.0.0.1", port=0)
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        got = await gather(stream.stream(connect(url), ask("Any tides?")))
    finally:
        await runner.cleanup()
    assert outcome(got).text == "High."
    fixture.write_text("[]")
    with pytest.raises(script.ScriptError):
        scripted.application(fixture=fixture)


@pytest.mark.parametrize(
    "text",
    [
        "say: Hi\nshout: Hi",
        "call: look [1]",
        "call:",
        "tokens: many",
        "tokens: 5 @ fast",
        "wait: -1",
        "split: 0",
        "fault: nothing",
        "fault: status 99",
        "usage: 1",
    ],
)
def test_a_script_that_cannot_be_read_names_its_line(text: str) -> None:
    with pytest.raises(script.ScriptError, match=r"^script, line [12]: "):
        script.parse(text)


async def test_a_broken_script_is_answered_in_words(reply: Any) -> None:
    got = await reply("```script\nshout: Hi\n```")
    assert outcome(got).text == "script, line 1: no such directive"


async def test_it_holds_an_answer_until_somebody_lets_it_go(
    scripted_url: str, reply: Any, ask: Ask
) -> None:
    root = scripted_url.removesuffix("/v1")
    held = asyncio.create_task(reply("say: One.\nhold: gate-1\nsay: Two."))
    async with aiohttp.ClientSession() as client:
        while True:
            async with client.get(f"{root}/scripted/holds") as answer:
                if await answer.json() == {"gate-1": 1}:
                    break
        assert not held.done()
        await client.post(f"{root}/scripted/release/gate-1")
    assert outcome(await held).text == "One.Two."
    assert outcome(await reply("hold: gate-1\nsay: Again.")).text == "Again."

"""Streams as real servers send them, byte for byte, and what must come out."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.gateway.events import TextDelta, ThinkingDelta
from agents.gateway.providers import openai_compatible
from tests.gateway.conftest import HELLO, connect, gather, outcome, said
from tests.gateway.raw_server import Reply, serving

CASES = json.loads((Path(__file__).parent / "data" / "streams.json").read_text())


def reads(case: dict[str, Any]) -> list[bytes]:
    if "reads_hex" in case:
        return [bytes.fromhex(read) for read in case["reads_hex"]]
    return ["".join(f"{line}\n" for line in case["lines"]).encode()]


def one_byte_reads(case: dict[str, Any]) -> list[bytes]:
    whole = b"".join(reads(case))
    return [whole[at : at + 1] for at in range(len(whole))]


def with_crlf(case: dict[str, Any]) -> list[bytes]:
    return [b"".join(reads(case)).replace(b"\n", b"\r\n")]


async def check(case: dict[str, Any], sent: list[bytes], between_reads_s: float) -> None:
    expected = case["expect"]
    reply = Reply(sent, between_reads_s=between_reads_s)
    async with serving(reply) as server:
        connection = connect(server.url, **case.get("deployment", {}))
        events = await gather(openai_compatible.attempt(connection, HELLO))
    ended = outcome(events)
    calls = [
        {"name": call.name, "arguments": call.arguments}
        for call in ended.calls
        if call.refusal is None
    ]
    assert ended.end == expected["end"]
    assert ended.text == said(events, TextDelta) == expected["text"]
    assert ended.thinking == said(events, ThinkingDelta) == expected.get("reasoning", "")
    wanted = expected.get("tool_calls", [])
    assert calls == [{"name": call["name"], "arguments": call["arguments"]} for call in wanted]
    for call, want in zip(ended.calls, wanted, strict=False):
        assert call.provider_id == want.get("id", call.provider_id)
    refused = [call.provider_id for call in ended.calls if call.refusal is not None]
    assert refused == expected.get("rejected_calls", [])
    assert all((call.arguments is None) is (call.refusal is not None) for call in ended.calls)
    if "usage" in expected:
        assert ended.usage is not None
        assert ended.usage.prompt_tokens == expected["usage"]["prompt_tokens"]
        assert ended.usage.completion_tokens == expected["usage"]["completion_tokens"]
    assert (ended.failure is not None) == (ended.end == "failed")


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
@pytest.mark.req("GW-012", "ENG-003")
async def test_it_reads_the_stream_as_stated(case: dict[str, Any]) -> None:
    await check(case, reads(case), 0.01)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
async def test_it_does_not_matter_where_reads_are_cut(case: dict[str, Any]) -> None:
    await check(case, one_byte_reads(case), 0.0)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
async def test_it_does_not_matter_how_lines_end(case: dict[str, Any]) -> None:
    await check(case, with_crlf(case), 0.01)

"""Tool calls from servers that only promise JSON by schema.

The model answers with one JSON object: `{"tool": name, "arguments": {…}}`, one schema branch per
offered tool, or `{"final": text}`. The events that come out are the same as from a server with
tool calls of its own: the text of a final answer streams while it is written, a call appears when
it is whole. History is told in the same words, because such models have no role for tools. At
most one call comes per step.
"""

import json
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from agents.gateway import arguments, failures, schemas
from agents.gateway.branches import BranchReader
from agents.gateway.connection import USUAL, Connection, Lifecycle
from agents.gateway.events import (
    CallRefusal,
    Completed,
    ModelRequest,
    ModelToolCall,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
    ToolOffer,
)
from agents.gateway.providers import openai_compatible
from agents.gateway.providers.openai_compatible import Body

# How a tool's result is introduced to a model that has no role for it.
RESULT_PREFIX = "Result of tool "
# Small models lose the thread in long lists, so each tool gets one short line.
DESCRIPTION_CHARACTERS = 100
CALL_ID = "call"

Message = dict[str, Any]


async def attempt(
    connection: Connection, request: ModelRequest, lifecycle: Lifecycle = USUAL
) -> AsyncGenerator[StreamEvent, None]:
    """The request by schema; plain chat when no tools are offered. One `Completed`, last."""
    messages = _messages(request)
    if not request.tools:
        told = replace(request, messages=messages)
        plain = openai_compatible.attempt(connection, told, lifecycle)
        async with aclosing(plain) as events:
            async for event in events:
                yield event
        return
    body = openai_compatible.body(connection, replace(request, messages=messages))
    sent = {**body, "response_format": _format(request.tools, schemas.bounded)}

    def adjust(status: int, text: str) -> Body | None:
        if failures.is_grammar_refusal(status, text):
            return {**body, "response_format": _format(request.tools, schemas.unbounded)}
        return openai_compatible.without_unknown(sent, status, text)

    reader = BranchReader()
    exchange = openai_compatible.exchange(connection, sent, adjust, lifecycle)
    async with aclosing(exchange) as events:
        async for event in events:
            if type(event) is TextDelta:
                for translated in _translated(reader, event.text):
                    yield translated
            elif type(event) is Completed:
                rest = reader.close() if event.end != "failed" else ""
                if rest:
                    yield TextDelta(rest)
                yield _outcome(reader, event)
            else:
                yield event


def _translated(reader: BranchReader, piece: str) -> list[StreamEvent]:
    text = reader.feed(piece)
    if text:
        return [TextDelta(text)]
    if reader.tool is not None:
        return [ToolCallDelta(0, reader.tool, reader.length, reader.news())]
    return []


def _outcome(reader: BranchReader, event: Completed) -> Completed:
    event = replace(event, text=reader.text)
    if event.end == "failed" or reader.tool is None:
        return event
    if event.end == "truncated":
        return replace(event, calls=(_call(reader, cut=True),))
    return replace(event, calls=(_call(reader, cut=False),), end="tool_calls")


def _call(reader: BranchReader, *, cut: bool) -> ModelToolCall:
    name, raw = reader.tool or "", reader.raw
    if cut:
        return arguments.refused(CALL_ID, name, raw, CallRefusal.TRUNCATED)
    whole = arguments.call(CALL_ID, name or "?", raw)
    if whole.arguments is None:
        return whole
    return arguments.call(CALL_ID, name, _text(whole.arguments.get("arguments")))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _format(tools: list[ToolOffer], tamed: Callable[[dict[str, Any]], dict[str, Any]]) -> Body:
    """One branch per tool and one for the answer, with the tools' definitions at the root."""
    definitions: dict[str, Any] = {}
    branches: list[dict[str, Any]] = []
    for tool in tools:
        parameters, named = schemas.hoisted(tamed(tool.parameters), tool.name)
        definitions |= named
        branches.append(_branch({"tool": {"const": tool.name}, "arguments": parameters}))
    branches.append(_branch({"final": {"type": "string"}}))
    schema: dict[str, Any] = {"anyOf": branches}
    if definitions:
        schema["$defs"] = definitions
    return {
        "type": "json_schema",
        "json_schema": {"name": "step", "strict": True, "schema": schema},
    }


def _branch(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _messages(request: ModelRequest) -> list[Message]:
    """The history without roles and members such a model's template may not know."""
    told: list[Message] = []
    names: dict[str, str] = {}
    for message in request.messages:
        role, text = _told(message, names)
        if told and told[-1]["role"] == role:
            # Templates often insist on roles that alternate.
            told[-1] = {"role": role, "content": f"{told[-1]['content']}\n\n{text}"}
        else:
            told.append({"role": role, "content": text})
    if request.tools:
        rules = _rules(request.tools)
        if told and told[0]["role"] == "system":
            told[0] = {"role": "system", "content": f"{told[0]['content']}\n\n{rules}"}
        else:
            told.insert(0, {"role": "system", "content": rules})
    return told


def _told(message: Message, names: dict[str, str]) -> tuple[str, str]:
    text = message.get("content") or ""
    if not isinstance(text, str):
        text = "".join(part.get("text", "") for part in text)
    if message["role"] == "tool":
        name = names.get(message.get("tool_call_id", ""), "")
        return "user", f"{RESULT_PREFIX}{name}:\n{text}"
    lines = [text] if text else []
    for call in message.get("tool_calls") or ():
        function = call["function"]
        names[call.get("id", "")] = function["name"]
        name = json.dumps(function["name"])
        lines.append(f'{{"tool": {name}, "arguments": {function["arguments"]}}}')
    return message["role"], "\n".join(lines)


def _rules(tools: list[ToolOffer]) -> str:
    lines = "\n".join(f"- {tool.name}: {_short(tool.description)}" for tool in tools)
    return (
        'Answer in JSON: {"final": "your answer"}. Only if a tool is needed: '
        f'{{"tool": name, "arguments": {{}}}}. Tools:\n{lines}'
    )


def _short(description: str) -> str:
    sentence = re.split(r"(?<=[.!?])\s", description.strip(), maxsplit=1)[0]
    if len(sentence) <= DESCRIPTION_CHARACTERS:
        return sentence
    return sentence[: DESCRIPTION_CHARACTERS - 1].rstrip() + "…"

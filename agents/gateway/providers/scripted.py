"""A model server that answers by script: real HTTP, real streaming, no model.

It speaks the OpenAI-compatible streaming protocol, so tests, journeys and measurements exercise the
whole path to a model and still know every word of the answer. The script language is described in
`agents.gateway.providers.script`. A message without a script gets its own text back ("You said:
…"); a request that asks for a title gets the first words of the message.

    GET  /v1/models             the one model, `scripted`
    POST /v1/chat/completions   streaming only; one branch per tool when a JSON schema is given
    GET  /scripted/requests     the last 100 request bodies, newest last
    GET  /scripted/streams      {"open", "started", "abandoned"}: abandoned = the client went away
    GET  /scripted/holds        {name: how many answers wait there}
    POST /scripted/release/NAME lets all go on that wait there or come there later

It costs little per token: filler words are encoded once, and words that are not paced leave in
groups. It is never started unless somebody runs its command, and knows nothing of the database.
"""

import asyncio
import hashlib
import hmac
import json
import re
import socket
import struct
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from agents.gateway.providers import constrained, script

MODEL = "scripted"
REQUESTS_KEPT = 100
ATTEMPTS_REMEMBERED = 10_000
# Unpaced filler words per write: one system call instead of 32, as a busy network would join them.
WORDS_PER_WRITE = 32
ARGUMENT_PIECE_CHARACTERS = 24
MAX_REQUEST_BYTES = 16 * 1024 * 1024
TITLE_WORDS = 6

_HEAD = b'data: {"id":"scripted","object":"chat.completion.chunk","created":0,"model":"scripted",'
_WORD = re.compile(r"\S+\s*|\s+")
# Fifteen words, so that repeated sentences are easy to tell apart from lost ones.
_FILLER = _WORD.findall(
    "the quiet river turns and every small boat keeps its own slow time beside it "
)
_CLOSED = "That is done."


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choices = orjson.dumps([{"index": 0, "delta": delta, "finish_reason": finish}])
    return _HEAD + b'"choices":' + choices + b"}\n\n"


_FILLER_TEXT = [_chunk({"content": word}) for word in _FILLER]
_FILLER_THINKING = [_chunk({"reasoning_content": word}) for word in _FILLER]
_DONE = b"data: [DONE]\n\n"


@dataclass
class Gate:
    """A place in a script where answers wait until somebody opens it."""

    opened: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: int = 0


@dataclass
class State:
    """What one server remembers: fixture answers, request bodies, counts."""

    fixtures: list[tuple[str, tuple[script.Step, ...]]] = field(default_factory=list)
    key: str = ""
    requests: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=REQUESTS_KEPT))
    attempts: OrderedDict[bytes, int] = field(default_factory=OrderedDict)
    holds: dict[str, "Gate"] = field(default_factory=dict)
    open: int = 0
    started: int = 0
    abandoned: int = 0

    def attempt(self, body: bytes) -> int:
        """How often this very request was made, this time included."""
        digest = hashlib.sha256(body).digest()
        count = self.attempts.get(digest, 0) + 1
        self.attempts[digest] = count
        self.attempts.move_to_end(digest)
        if len(self.attempts) > ATTEMPTS_REMEMBERED:
            self.attempts.popitem(last=False)
        return count

    async def hold(self, name: str) -> None:
        """Wait at the gate of this name."""
        gate = self.holds.setdefault(name, Gate())
        gate.waiting += 1
        try:
            await gate.opened.wait()
        finally:
            gate.waiting -= 1

    def forget(self, body: bytes) -> None:
        """A request that was answered whole starts to count anew."""
        self.attempts.pop(hashlib.sha256(body).digest(), None)


STATE = web.AppKey("state", State)


def application(*, fixture: Path | None = None, key: str = "") -> web.Application:
    """The server as an aiohttp application.

    `fixture` is a JSON file `{"answers": [{"contains": text, "script": text}]}`: the first entry
    whose text occurs in the person's message answers it. With `key` every request needs that
    bearer token. Raises `script.ScriptError` for a fixture that cannot be read.
    """
    app = web.Application(client_max_size=MAX_REQUEST_BYTES)
    app[STATE] = State(fixtures=_fixtures(fixture) if fixture else [], key=key)
    app.router.add_get("/v1/models", _models)
    app.router.add_post("/v1/chat/completions", _complete)
    app.router.add_get("/scripted/requests", _requests)
    app.router.add_get("/scripted/streams", _streams)
    app.router.add_get("/scripted/holds", _holds)
    app.router.add_post("/scripted/release/{name}", _release)
    return app


async def serve(
    app: web.Application, *, host: str = "127.0.0.1", port: int = 0, socket_path: str | None = None
) -> web.AppRunner:
    """Listen on a port, or on a Unix socket, until the returned runner is cleaned up.

    Raises `OSError` when the port is taken.
    """
    runner = web.AppRunner(
        app, access_log=None, handler_cancellation=True, shutdown_timeout=1.0, keepalive_timeout=75
    )
    await runner.setup()
    site: web.BaseSite
    if socket_path is not None:
        site = web.UnixSite(runner, socket_path)
    else:
        site = web.TCPSite(runner, host, port, backlog=1024)
    await site.start()
    return runner


def _fixtures(path: Path) -> list[tuple[str, tuple[script.Step, ...]]]:
    try:
        answers = json.loads(path.read_text())["answers"]
        return [(entry["contains"], script.parse(entry["script"])) for entry in answers]
    except (KeyError, TypeError, ValueError) as error:
        raise script.ScriptError(f"{path}: not a fixture file ({error})") from None


def _refusal(request: web.Request) -> web.Response | None:
    key = request.app[STATE].key
    given = request.headers.get("Authorization", "")
    if key and not hmac.compare_digest(given.encode(), f"Bearer {key}".encode()):
        return _error(401, "the key is missing or wrong", "invalid_api_key")
    return None


def _error(status: int, message: str, code: str = "scripted") -> web.Response:
    body = {"error": {"message": message, "type": "scripted", "code": code}}
    return web.json_response(body, status=status)


async def _models(request: web.Request) -> web.Response:
    refused = _refusal(request)
    if refused is not None:
        return refused
    return web.json_response({"object": "list", "data": [{"id": MODEL, "object": "model"}]})


async def _requests(request: web.Request) -> web.Response:
    return web.json_response(list(request.app[STATE].requests))


async def _streams(request: web.Request) -> web.Response:
    state = request.app[STATE]
    counts = {"open": state.open, "started": state.started, "abandoned": state.abandoned}
    return web.json_response(counts)


async def _holds(request: web.Request) -> web.Response:
    holds = request.app[STATE].holds
    return web.json_response({name: gate.waiting for name, gate in holds.items()})


async def _release(request: web.Request) -> web.Response:
    request.app[STATE].holds.setdefault(request.match_info["name"], Gate()).opened.set()
    return web.Response(status=204)


async def _complete(request: web.Request) -> web.StreamResponse:
    refused = _refusal(request)
    if refused is not None:
        return refused
    raw = await request.read()
    try:
        body = orjson.loads(raw)
        messages = list(body["messages"])
        step = _step(request.app[STATE], body, messages)
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return _error(400, "the request is not a chat completion request", "invalid_request_error")
    except script.ScriptError as error:
        step = (script.Say(str(error)),)
    state = request.app[STATE]
    state.requests.append(body)
    step = _due(step, state.attempt(raw))
    whole = _whole_response(step)
    if whole is not None:
        return whole
    answer = await _stream(request, body, step)
    if not any(isinstance(directive, script.Fault) for directive in step):
        state.forget(raw)
    return answer


async def _stream(
    request: web.Request, body: dict[str, Any], step: script.Step
) -> web.StreamResponse:
    state = request.app[STATE]
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    response.enable_chunked_encoding()
    await response.prepare(request)
    player = Player(request, response, body)
    state.open += 1
    state.started += 1
    try:
        await player.play(step)
    except ConnectionError:
        state.abandoned += 1
    except asyncio.CancelledError:
        state.abandoned += 1
        raise
    finally:
        state.open -= 1
    return response


def _due(step: script.Step, attempt: int) -> script.Step:
    """The step without the faults that were only meant for earlier attempts."""
    return tuple(
        directive
        for directive in step
        if not isinstance(directive, script.Fault)
        or directive.times is None
        or attempt <= directive.times
    )


def _whole_response(step: script.Step) -> web.Response | None:
    first = step[0] if step else None
    if not isinstance(first, script.Fault) or first.kind not in script.WHOLE_RESPONSE_FAULTS:
        return None
    if first.kind == "html":
        page = "<!doctype html><title>Gateway</title><h1>Please sign in</h1>"
        return web.Response(text=page, content_type="text/html")
    answer = _error(first.status, first.message or "the script says so")
    if first.retry_after.endswith("ms"):
        answer.headers["retry-after-ms"] = first.retry_after.removesuffix("ms").strip()
    elif first.retry_after:
        answer.headers["Retry-After"] = first.retry_after
    return answer


def _content(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return ""


def _step(state: State, body: dict[str, Any], messages: list[dict[str, Any]]) -> script.Step:
    """Which step answers this request: as many assistant messages as stand after the person's."""
    asked = ""
    done = 0
    for message in reversed(messages):
        if message["role"] == "assistant":
            done += 1
        if message["role"] == "user":
            asked = _content(message)
            if not asked.startswith(constrained.RESULT_PREFIX):
                break
    steps = script.find(asked)
    if steps is None:
        steps = next((steps for part, steps in state.fixtures if part in asked), None)
    if steps is None:
        return (script.Say(_plain_answer(messages, asked)),)
    return steps[done] if done < len(steps) else (script.Say(_CLOSED),)


def _plain_answer(messages: list[dict[str, Any]], asked: str) -> str:
    rules = " ".join(_content(message) for message in messages if message["role"] == "system")
    if len(messages) <= 2 and re.search(r"\btitle\b", rules, re.IGNORECASE):
        return " ".join(asked.split()[:TITLE_WORDS])
    return f"You said: {asked.strip()}" if asked.strip() else "You said nothing."


class Player:
    """Plays one step into one response."""

    def __init__(
        self, request: web.Request, response: web.StreamResponse, body: dict[str, Any]
    ) -> None:
        self._request = request
        self._response = response
        self._by_schema = "response_format" in body
        self._loop = asyncio.get_running_loop()
        self._interval_s = 0.0
        self._next_at = 0.0
        self._split: int | None = None
        self._bytewise = False
        self._calls = 0
        self._said = False
        self._words = 0
        self._finish: str | None = None
        prompt = sum(len(_content(message)) for message in body["messages"]) // 4 + 1
        self._usage: tuple[int, int | None] = (prompt, None)

    async def play(self, step: script.Step) -> None:
        """Send everything the step says and end the body as it says.

        Raises `ConnectionError` when the client is gone.
        """
        for directive in step:
            match directive:
                case script.Say(text, thinking):
                    await self._say(text, thinking)
                case script.Tokens():
                    await self._filler(directive)
                case script.Call(name, arguments):
                    await self._call(name, arguments)
                case script.Pace(per_second):
                    self._interval_s = 1 / per_second if per_second else 0.0
                case script.Wait(seconds):
                    await asyncio.sleep(seconds)
                case script.Hold(name):
                    await self._request.app[STATE].hold(name)
                case script.Split(characters):
                    self._split = characters
                case script.Raw(text):
                    await self._write(text.encode())
                case script.Usage(prompt, completion):
                    self._usage = (prompt, completion)
                case script.Finish(label):
                    self._finish = label
                case script.Fault() if await self._break(directive):
                    return
        await self._end(self._finish or ("tool_calls" if self._native_calls else "stop"))

    @property
    def _native_calls(self) -> bool:
        return self._calls > 0 and not self._by_schema

    async def _write(self, data: bytes) -> None:
        if not self._bytewise:
            await self._response.write(data)
            return
        for position in range(len(data)):
            await self._response.write(data[position : position + 1])
            await asyncio.sleep(0)

    async def _tick(self, interval_s: float) -> None:
        """Wait for the next beat; beats are counted from the first, so lateness does not add up."""
        now = self._loop.time()
        if self._next_at <= now - 1.0 or not self._next_at:
            self._next_at = now
        self._next_at += interval_s
        await asyncio.sleep(max(0.0, self._next_at - now))

    async def _say(self, text: str, thinking: bool) -> None:
        for piece in self._pieces(text):
            if self._interval_s:
                await self._tick(self._interval_s)
            self._words += 1
            await self._write(self._delta(piece, thinking))

    def _pieces(self, text: str) -> Iterator[str]:
        if self._split is None:
            yield from _WORD.findall(text)
            return
        for start in range(0, len(text), self._split):
            yield text[start : start + self._split]

    def _delta(self, piece: str, thinking: bool) -> bytes:
        if thinking:
            return _chunk({"reasoning_content": piece})
        if not self._by_schema:
            return _chunk({"content": piece})
        opening = "" if self._said else '{"final": "'
        self._said = True
        return _chunk({"content": opening + orjson.dumps(piece).decode()[1:-1]})

    async def _filler(self, tokens: script.Tokens) -> None:
        words = _FILLER_THINKING if tokens.thinking else _FILLER_TEXT
        if self._by_schema and not tokens.thinking:
            words = [_chunk({"content": word}) for word in _FILLER]
            await self._write(self._delta("", thinking=False))
        interval_s = 1 / tokens.per_second if tokens.per_second else 0.0
        group = 1 if interval_s or self._bytewise else WORDS_PER_WRITE
        self._next_at = 0.0
        for start in range(0, tokens.count, group):
            if interval_s:
                await self._tick(interval_s)
            stop = min(start + group, tokens.count)
            await self._write(b"".join(words[n % len(words)] for n in range(start, stop)))
        self._words += tokens.count

    async def _call(self, name: str, arguments: str) -> None:
        index = self._calls
        self._calls += 1
        if self._by_schema:
            opening = '{"tool": ' + json.dumps(name) + ', "arguments": '
            await self._write(_chunk({"content": opening}))
            await self._write(_chunk({"content": arguments + "}"}))
            return
        first = {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        await self._write(_chunk({"tool_calls": [first]}))
        size = self._split or ARGUMENT_PIECE_CHARACTERS
        for start in range(0, len(arguments), size):
            piece = {"index": index, "function": {"arguments": arguments[start : start + size]}}
            await self._write(_chunk({"tool_calls": [piece]}))

    async def _break(self, fault: script.Fault) -> bool:
        """Do what the fault says; True when nothing may follow it."""
        match fault.kind:
            case "split-bytes":
                self._bytewise = True
                return False
            case "status" | "html" | "error":
                frame = {"message": fault.message or "the script says so", "type": "server_error"}
                await self._write(b"data: " + orjson.dumps({"error": frame}) + b"\n\n" + _DONE)
            case "garbage":
                await self._write(b"\x00\xff\xfe<<< not an event stream >>>\r\n\x80\x81\n\n")
            case "hang":
                await asyncio.sleep(script.MAX_WAIT_S)
            case "reset":
                self._reset()
            case "empty":
                await self._end("stop")
            case "length":
                await self._end("length", cut=True)
        return True

    def _reset(self) -> None:
        transport = self._request.transport
        if transport is None:
            return
        sock = transport.get_extra_info("socket")
        if sock is not None:
            # Lingering zero seconds makes the kernel answer with a reset instead of an end.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()

    async def _end(self, label: str, *, cut: bool = False) -> None:
        closing = _chunk({"content": '"}'}) if self._by_schema and self._said and not cut else b""
        prompt, completion = self._usage
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": self._words if completion is None else completion,
        }
        report = _HEAD + b'"choices":[],"usage":' + orjson.dumps(usage) + b"}\n\n"
        await self._write(closing + _chunk({}, label) + report + _DONE)

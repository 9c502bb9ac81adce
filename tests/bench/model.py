"""A model whose words say when they were sent: `python -m tests.bench.model PORT`.

The person's message says how much: `bench 600 @ 30` is 600 words, 30 a second; without `@` all at
once. `bench step 1` asks for a tool first and gives its words after the result. A word is the
monotonic clock in nanoseconds, which all processes of one machine share.
"""

import asyncio
import re
import sys
import time
from typing import Final

import orjson
import uvloop
from aiohttp import web

ORDER: Final = re.compile(r"bench (step )?(\d+)(?: @ (\d+))?")
TOOL: Final = "list_available_agents"  # a reading tool that every chat agent has
GROUP: Final = 32  # unpaced words per write, as a busy network joins them
HEAD: Final = (
    b'data: {"id":"bench","object":"chat.completion.chunk","created":0,"model":"bench",'
    b'"choices":[{"index":0,"delta":{"content":"'
)
TAIL: Final = b' "},"finish_reason":null}]}\n\n'
CALL: Final = (
    b'data: {"id":"bench","object":"chat.completion.chunk","created":0,"model":"bench",'
    b'"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function",'
    b'"function":{"name":"%s","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}\n\n'
    b"data: [DONE]\n\n"
) % TOOL.encode()
END: Final = (
    b'data: {"id":"bench","object":"chat.completion.chunk","created":0,"model":"bench",'
    b'"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    b'data: {"id":"bench","object":"chat.completion.chunk","created":0,"model":"bench",'
    b'"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}\n\n'
    b"data: [DONE]\n\n"
)


def word() -> bytes:
    return HEAD + str(time.monotonic_ns()).encode() + TAIL


async def complete(request: web.Request) -> web.StreamResponse:
    body = orjson.loads(await request.read())
    asked = next(m["content"] for m in reversed(body["messages"]) if m["role"] == "user")
    order = ORDER.search(asked)
    step, count, rate = (order[1], int(order[2]), int(order[3] or 0)) if order else (None, 1, 0)
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    if step and body["messages"][-1]["role"] == "user":
        await response.write(CALL)
        return response
    if rate:
        await paced(response, count, rate)
    else:
        for first in range(0, count, GROUP):
            size = min(GROUP, count - first)
            await response.write(b"".join([word() for _ in range(size)]))
    await response.write(END)
    return response


async def paced(response: web.StreamResponse, count: int, rate: int) -> None:
    loop = asyncio.get_running_loop()
    started = loop.time()
    for number in range(count):
        pause = started + number / rate - loop.time()
        if pause > 0:
            await asyncio.sleep(pause)
        await response.write(word())


async def models(_: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [{"id": "bench", "object": "model"}]})


async def main(port: int) -> None:
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_get("/v1/models", models)
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app, access_log=None, keepalive_timeout=600)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=1024).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))

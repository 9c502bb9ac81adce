"""The bare relay: `python -m tests.bench.relay PORT MODEL_URL`.

One socket, one question, the model's words passed on as they come. A tool the model calls answers
at once with nothing. No people, no database, no policy: what remains is the price of the road.
"""

import asyncio
import sys
from typing import Any

import aiohttp
import orjson
import uvloop
from aiohttp import web

SESSION = web.AppKey("session", aiohttp.ClientSession)
MODEL = web.AppKey("model", str)


async def talk(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse(compress=False)
    await socket.prepare(request)
    async for message in socket:
        await answer(request.app, socket, orjson.loads(message.data)["message"])
    return socket


async def answer(app: web.Application, socket: web.WebSocketResponse, asked: str) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": asked}]
    while calls := await step(app, socket, messages):
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": c["id"], "content": "{}"} for c in calls]
    await socket.send_str('{"event":"agent_run_completed"}')


async def step(
    app: web.Application, socket: web.WebSocketResponse, messages: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """One request to the model; the tool calls it made."""
    body = {"model": "bench", "stream": True, "messages": messages}
    calls: list[dict[str, Any]] = []
    async with app[SESSION].post(f"{app[MODEL]}/chat/completions", json=body) as response:
        async for line in response.content:
            if not line.startswith(b"data: {"):
                continue
            choices = orjson.loads(line[6:])["choices"]
            delta = choices[0]["delta"] if choices else {}
            calls += delta.get("tool_calls", [])
            if delta.get("content"):
                frame = {"event": "delta", "text": delta["content"]}
                await socket.send_str(orjson.dumps(frame).decode())
    return calls


async def alive(_: web.Request) -> web.Response:
    return web.Response(text="ok")


async def session(app: web.Application) -> None:
    app[SESSION] = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None)
    )


async def main(port: int, model_url: str) -> None:
    app = web.Application()
    app[MODEL] = model_url
    app.on_startup.append(session)
    app.router.add_get("/talk", talk)
    app.router.add_get("/healthz", alive)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=1024).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), sys.argv[2]))

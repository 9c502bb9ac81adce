"""Connections to a model server are kept, and replaced when the server has dropped them."""

import asyncio
from pathlib import Path

import pytest

from agents.gateway import sessions, stream
from agents.gateway.providers import scripted
from tests.gateway.conftest import HELLO, connect, gather, outcome
from tests.gateway.raw_server import chunk, events

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
ANSWER = events(chunk(content="Fine."), chunk("stop"))
WHOLE = b"%x\r\n%s\r\n0\r\n\r\n" % (len(ANSWER), ANSWER)


class Keeper:
    """Answers `per_connection` requests on a connection, then drops it at the next one."""

    def __init__(self, per_connection: int) -> None:
        self.per_connection = per_connection
        self.connections = 0
        self.requests = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            for answered in range(self.per_connection + 1):
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                self.requests += 1
                if answered < self.per_connection:
                    writer.write(HEAD + WHOLE)
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()


async def ask_twice(keeper: Keeper) -> list[tuple[str, int]]:
    listener = await asyncio.start_server(keeper.answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    got = []
    for _ in range(2):
        ended = outcome(await gather(stream.stream(connect(url), HELLO)))
        got.append((ended.text, ended.attempts))
        await asyncio.sleep(0.05)
    listener.close()
    await sessions.close()
    return got


async def test_one_connection_serves_many_requests() -> None:
    keeper = Keeper(per_connection=9)
    assert await ask_twice(keeper) == [("Fine.", 1), ("Fine.", 1)]
    assert (keeper.connections, keeper.requests) == (1, 2)


async def test_a_connection_the_server_dropped_is_replaced_at_once() -> None:
    keeper = Keeper(per_connection=1)
    assert await ask_twice(keeper) == [("Fine.", 1), ("Fine.", 1)]
    assert (keeper.connections, keeper.requests) == (2, 3)


async def test_a_socket_path_serves_as_an_address(tmp_path: Path) -> None:
    path = str(tmp_path / "model.sock")
    runner = await scripted.serve(scripted.application(), socket_path=path)
    connection = connect("http://localhost/v1", unix_socket=path)
    try:
        assert outcome(await gather(stream.stream(connection, HELLO))).text == "You said: Hello"
    finally:
        await sessions.close()
        await runner.cleanup()


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_proxies_of_the_environment_are_not_used(
    name: str, scripted_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:1")
    ended = outcome(await gather(stream.stream(connect(scripted_url), HELLO)))
    assert ended.text == "You said: Hello"

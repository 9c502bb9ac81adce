"""The event stream over HTTP, as browsers and the public client read it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import aiohttp
import orjson
import pytest

from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.journal.offloading import in_database
from agents.members import tokens
from agents.members.models import Member
from tests.patience import promised
from tests.streaming.conftest import RECEIVE_S, Scene, Server, make_scene, reading


class EventReader:
    """Reads server-sent events as the public client does: lines, fields, blank line."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response

    async def next(self, timeout_s: float = RECEIVE_S) -> dict[str, Any]:
        """The next event with a position: its three fields."""
        async with asyncio.timeout(timeout_s):
            while True:
                event = await self._event()
                if "id" in event:
                    return {**event, "data": orjson.loads(event["data"])}

    async def _event(self) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        while True:
            line = (await self.response.content.readline()).decode()
            assert line, "the stream ended"
            # Many readers split lines as Python does, at U+2028 and U+0085 too.
            assert line.splitlines() == [line.rstrip("\n")] or line == "\n"
            if line == "\n":
                return fields
            name, _, value = line.rstrip("\n").partition(": ")
            fields[name] = value

    async def ended(self) -> None:
        async with asyncio.timeout(RECEIVE_S):
            while await self.response.content.readline():
                pass


@asynccontextmanager
async def streaming(
    server: Server, scene: Scene, conversation_id: object = None, **options: Any
) -> AsyncIterator[EventReader]:
    address = conversation_id or scene.conversation_id
    async with (
        aiohttp.ClientSession(auto_decompress=False, read_bufsize=1 << 20) as session,
        session.get(
            f"http://127.0.0.1:{server.port}/api/conversations/{address}/events",
            params=options.get("params", {}),
            headers={
                "Authorization": f"Bearer {scene.token}",
                "Accept": "text/event-stream",
                **options.get("headers", {}),
            },
        ) as response,
    ):
        yield EventReader(response)


async def test_it_replays_and_goes_on_live_with_ids_names_and_one_data_line(
    server: Server, scene: Scene
) -> None:
    await in_database(scene.notice, "one")
    await in_database(scene.notice, "two")
    async with streaming(server, scene, params={"after": 1}) as stream:
        assert stream.response.headers["Content-Type"] == "text/event-stream"
        assert stream.response.headers["X-Accel-Buffering"] == "no"
        event = await stream.next()
        assert (event["id"], event["event"], event["data"]["position"]) == ("2", "notice", 2)
        await in_database(scene.delta, "live pieces stay on the socket", 0)
        await in_database(scene.notice, "three")
        assert (await stream.next())["data"]["data"]["message"] == "three"


async def test_a_reconnecting_browser_goes_on_after_its_last_event(
    server: Server, scene: Scene
) -> None:
    for number in range(3):
        await in_database(scene.notice, str(number))
    async with streaming(
        server, scene, params={"after": 0}, headers={"Last-Event-ID": "2"}
    ) as stream:
        assert (await stream.next())["id"] == "3"


async def test_characters_that_look_like_line_ends_stay_inside_their_line(
    server: Server, scene: Scene
) -> None:
    hostile = "a\u2028b\u2029c\x85d\re\nf\x0bg\x1ch\U0001f408"
    await in_database(scene.notice, hostile)
    async with streaming(server, scene) as stream:
        assert (await stream.next())["data"]["data"]["message"] == hostile  # from the journal
        await in_database(scene.notice, hostile)
        assert (await stream.next())["data"]["data"]["message"] == hostile  # live


async def test_a_stream_ends_within_5_s_of_the_end_of_its_token(
    server: Server, scene: Scene
) -> None:
    async with streaming(server, scene) as stream:
        await in_database(scene.notice, "before")
        await stream.next()
        await in_database(tokens.revoke, actor=scene.member, token_id=scene.token_id)
        started = time.monotonic()
        await stream.ended()
        assert time.monotonic() - started < promised(5)
    async with streaming(server, scene) as stream:
        assert stream.response.status == 401


async def test_foreign_and_missing_conversations_get_the_same_bytes(
    server: Server, scene: Scene, make_member: Callable[..., Member]
) -> None:
    stranger = await in_database(make_scene, await in_database(make_member, "charlie"))
    answers = set()
    for address in (scene.conversation_id, uuid4()):
        async with streaming(server, stranger, address) as stream:
            assert stream.response.status == 404
            names = tuple(sorted(stream.response.headers.items()))
            answers.add(
                (await stream.response.read(), tuple(n for n in names if n[0].lower() != "date"))
            )
    assert len(answers) == 1


@pytest.mark.parametrize("after", ["-1", "x", "5", "1.0"])
async def test_a_position_nobody_handed_out_is_refused(
    server: Server, scene: Scene, after: str
) -> None:
    async with streaming(server, scene, params={"after": after}) as stream:
        assert stream.response.status == 400
        assert orjson.loads(await stream.response.read())["error"]["code"] == "invalid_cursor"


async def test_stream_and_socket_show_the_same_frames(server: Server, scene: Scene) -> None:
    await in_database(scene.write, Draft(Kind.ASSISTANT_MESSAGE, {"text": "é", "segment": 0}))
    async with (
        streaming(server, scene) as stream,
        reading(server.port, scene.conversation_id, scene.token) as socket,
    ):
        assert (await stream.next())["data"] == await socket.next()
        await in_database(scene.notice, "live")
        assert (await stream.next())["data"] == await socket.next()


async def test_a_slow_reader_of_a_stream_loses_nothing(server: Server, scene: Scene) -> None:
    drafts = [Draft(Kind.NOTICE, {"message": "x" * 100_000, "level": "info"}) for _ in range(20)]
    async with streaming(server, scene) as stream:
        await in_database(scene.notice, "ready")
        await stream.next()
        for _ in range(10):
            await in_database(scene.write, *drafts)
        ids = [(await stream.next())["id"] for _ in range(200)]
        assert ids == [str(position) for position in range(2, 202)]

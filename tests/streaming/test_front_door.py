"""What the web process refuses before any page or socket sees it."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from tests.streaming.conftest import Server

MIB = 1_048_576


async def in_pieces(size: int) -> AsyncIterator[bytes]:
    """A body that does not announce its length."""
    for _ in range(size // 65_536 + 1):
        yield b" " * 65_536


@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_over_1_mib_is_refused(server: Server, announced: bool) -> None:
    body = b" " * (MIB + 1) if announced else in_pieces(MIB)
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"http://127.0.0.1:{server.port}/api/conversations", data=body) as answer,
    ):
        assert answer.status == 413
        assert (await answer.json())["error"]["code"] == "body_too_large"


async def test_an_unknown_host_opens_no_socket(server: Server) -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(
                f"http://127.0.0.1:{server.port}/ws/conversations/x",
                headers={"Host": "evil.example"},
            )
    assert refused.value.status == 403

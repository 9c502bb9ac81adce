"""One HTTP session per process, event loop and socket, so that connections to a server are kept."""

import asyncio
from weakref import WeakKeyDictionary

import aiohttp

KEEP_ALIVE_S = 30
_NAMES_FRESH_S = 60

_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, aiohttp.ClientSession]] = (
    WeakKeyDictionary()
)


def current(unix_socket: str | None) -> aiohttp.ClientSession:
    """The running loop's session, for TCP or for one Unix socket.

    It follows no environment proxy, keeps no cookies and sets no limit on connections: how many
    turns run at once is decided elsewhere. Time is kept by the caller.
    """
    sessions = _by_loop.setdefault(asyncio.get_running_loop(), {})
    session = sessions.get(unix_socket or "")
    if session is None or session.closed:
        session = aiohttp.ClientSession(
            connector=_connector(unix_socket),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            headers={"Accept-Encoding": "identity", "User-Agent": "kaizen"},
            trust_env=False,
        )
        sessions[unix_socket or ""] = session
    return session


async def close() -> None:
    """Close the running loop's sessions; a worker calls this before its loop ends."""
    for session in _by_loop.pop(asyncio.get_running_loop(), {}).values():
        await session.close()


def _connector(unix_socket: str | None) -> aiohttp.BaseConnector:
    if unix_socket is not None:
        return aiohttp.UnixConnector(
            path=unix_socket, limit=0, limit_per_host=0, keepalive_timeout=KEEP_ALIVE_S
        )
    return aiohttp.TCPConnector(
        limit=0, limit_per_host=0, keepalive_timeout=KEEP_ALIVE_S, ttl_dns_cache=_NAMES_FRESH_S
    )

"""The web process: pages and REST through Django, sockets through Channels, start and stop."""

import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kaizen.settings")

from channels.routing import (  # type: ignore[import-untyped]  # ships no types
    ProtocolTypeRouter,
    URLRouter,
)
from django.conf import settings
from django.core.asgi import get_asgi_application

# Before the imports below: they define models and need the apps to be loaded.
pages: Any = get_asgi_application()

from agents.streaming import hub  # noqa: E402
from agents.streaming.origins import Application, KnownOrigins, Message, Receive, Send  # noqa: E402
from agents.streaming.routing import websocket_urlpatterns  # noqa: E402
from kaizen.static_files import StaticFiles  # noqa: E402

TOO_LARGE: Final = (
    b'{"error":{"code":"body_too_large","message":"The body is too large.","fields":[]}}'
)
STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
# Database threads would otherwise keep the event loop waiting 5 ms each time they are busy.
THREAD_SWITCH_S: Final = 0.0005
DRAIN_S: Final = 0.3  # for close frames to be written before the server cuts connections


class BodyTooLarge(Exception):
    """More bytes came than a body may have."""


class BodyCap:
    """Refuses request bodies over the limit, announced or not, before they are stored."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        cap = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > cap:
            await _refuse(send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > cap:
                raise BodyTooLarge
            return message

        try:
            await self.application(scope, counted, send)
        except BodyTooLarge:
            # Django answers only after it has the whole body, so nothing has been sent.
            await _refuse(send)


async def lifespan(scope: Message, receive: Receive, send: Send) -> None:
    """Start and stop the hub with the server; drain it when the server is told to stop."""
    await receive()
    live = hub.current()
    sys.setswitchinterval(THREAD_SWITCH_S)
    # What start-up made stays; looking through it for garbage again and again stops every stream.
    gc.collect()
    gc.freeze()
    if threading.current_thread() is threading.main_thread():
        drain_on_signals(live, asyncio.get_running_loop())
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await live.stop()
    await send({"type": "lifespan.shutdown.complete"})


def drain_on_signals(live: hub.Hub, loop: asyncio.AbstractEventLoop) -> None:
    """Send live readers away before the server's own handler closes their connections.

    The server would close sockets with a code that says nothing; ours tells clients to come back
    at once. A second signal goes straight to the server.
    """

    def handler_before(server: Callable[[int, FrameType | None], Any]) -> Any:
        def handle(number: int, frame: FrameType | None) -> None:
            if live.draining:
                server(number, frame)
                return
            loop.call_soon_threadsafe(live.drain)
            loop.call_soon_threadsafe(loop.call_later, DRAIN_S, server, number, frame)

        return handle

    for number in STOP_SIGNALS:
        server = signal.getsignal(number)
        if callable(server):
            signal.signal(number, handler_before(server))


async def _refuse(send: Send) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(TOO_LARGE)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": TOO_LARGE})


application = ProtocolTypeRouter(
    {
        "http": StaticFiles(BodyCap(pages)),
        "websocket": KnownOrigins(URLRouter(websocket_urlpatterns)),
        "lifespan": lifespan,
    }
)

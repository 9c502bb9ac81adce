"""Which pages may open a socket. A browser sends cookies along from any page, so only its
`Origin` tells ours from another one.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


class KnownOrigins:
    """Refuses sockets of unknown hosts, and of pages from another origin, before they open.

    Programs send no `Origin` and are let through: they carry no cookies they did not mean to.
    """

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if is_known(headers.get(b"host", ""), headers.get(b"origin")):
            await self.application(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close"})


def is_known(host: str, origin: str | None) -> bool:
    """Whether a socket for `host`, opened by a page of `origin` (None for programs), may open."""
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    if origin is None:
        return True
    if settings.PUBLIC_ORIGIN and origin.lower() == settings.PUBLIC_ORIGIN.lower():
        return True
    # Plain HTTP on loopback is reached under several names; the page's must be the socket's.
    parts = urlsplit(origin)
    return settings.LOCAL and parts.scheme == "http" and parts.netloc.lower() == host.lower()

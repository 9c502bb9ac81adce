"""Security headers on every response, the content-security policy first of all."""

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import urlsplit

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

PREVIEW: Final = re.compile(r"/artifacts/[0-9a-f-]{36}/versions/[0-9]{1,9}/preview")

# style-src-attr: rendered mathematics positions itself with style attributes; the
# sanitiser removes them from model text.
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "style-src-attr 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "manifest-src 'self'",
        f"frame-src 'self' {settings.ARTIFACT_ORIGIN}".rstrip(),
        "frame-ancestors 'none'",
    ]
)

# For the few pages that say, by X-Frame-Options, that other pages of ours may show them.
FRAMED: Final = POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")


class SecurityHeadersMiddleware:
    """Adds the policy unless a view has set a stricter one of its own."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
        if iscoroutinefunction(self.get_response):
            return self._later(request)
        return add_headers(self.get_response(request))

    async def _later(self, request: HttpRequest) -> HttpResponse:
        return add_headers(await self.get_response(request))  # type: ignore[misc]  # async get_response


def add_headers(response: HttpResponse) -> HttpResponse:
    """The response with policy, permission and cross-origin headers."""
    framed_here = response.headers.get("X-Frame-Options") == "SAMEORIGIN"
    response.headers.setdefault("Content-Security-Policy", FRAMED if framed_here else POLICY)
    response.headers.setdefault(
        "Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
    )
    response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
    return response


@sync_and_async_middleware
def artifact_origin(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Answers nothing but previews on the host of `ARTIFACT_ORIGIN`: no page and no API."""
    if not settings.ARTIFACT_ORIGIN:
        raise MiddlewareNotUsed
    host = urlsplit(settings.ARTIFACT_ORIGIN).netloc

    def refused(request: HttpRequest) -> HttpResponse | None:
        if request.get_host() != host or PREVIEW.fullmatch(request.path):
            return None
        return HttpResponse("Only previews are here.", status=404, content_type="text/plain")

    async def later(request: HttpRequest) -> HttpResponse:
        return refused(request) or await get_response(request)

    def at_once(request: HttpRequest) -> HttpResponse:
        return refused(request) or get_response(request)

    return later if iscoroutinefunction(get_response) else at_once

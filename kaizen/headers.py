"""Security headers on every response, the content-security policy first of all."""

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse

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
        f"frame-src {settings.ARTIFACT_ORIGIN or chr(39) + 'self' + chr(39)}",
        "frame-ancestors 'none'",
    ]
)


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
    response.headers.setdefault("Content-Security-Policy", POLICY)
    response.headers.setdefault(
        "Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
    )
    response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
    return response

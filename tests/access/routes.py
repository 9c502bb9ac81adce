"""Every address the program answers, read from its own routing tables."""

import re
from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

from agents.streaming.routing import websocket_urlpatterns

SLOT = re.compile(r"<(?:\w+:)?(\w+)>")
ADMINISTRATION = "admin/"


def _walk(
    patterns: list[URLPattern | URLResolver], prefix: str = ""
) -> Iterator[tuple[str, URLPattern]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, route)
        else:
            yield route, pattern


def http_routes() -> dict[str, URLPattern]:
    """Route to pattern, for everything but the administration."""
    found = dict(_walk(get_resolver().url_patterns))
    return {route: found[route] for route in found if not route.startswith(ADMINISTRATION)}


def administration_routes() -> list[str]:
    """Routes of the administration."""
    routes = (route for route, _ in _walk(get_resolver().url_patterns))
    return [route for route in routes if route.startswith(ADMINISTRATION)]


def socket_routes() -> list[str]:
    """Addresses of sockets."""
    return [str(pattern.pattern) for pattern in websocket_urlpatterns]


def slots(route: str) -> list[str]:
    """Names of the parameters of a route."""
    return SLOT.findall(route)


def filled(route: str, values: dict[str, str]) -> str:
    """The path with each parameter replaced by its value."""
    return "/" + SLOT.sub(lambda slot: values[slot.group(1)], route)

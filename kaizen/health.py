"""Whether this installation is alive, ready, and what it counts. For probes, not for people."""

import hmac
import ipaddress
from collections.abc import Callable
from typing import Final

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    generate_latest,
    multiprocess,
)
from psycopg_pool import PoolTimeout

from agents.turns import heartbeats

BROKER_TIMEOUT_S: Final = 2.0
WORKER_SEEN_WITHIN_S: Final = 15.0  # the public contract
FORWARDING_HEADERS: Final = ("HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR", "HTTP_X_REAL_IP")


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200 when everything a turn needs is there, else 503 naming what is not."""
    found = {name: check() for name, check in CHECKS.items()}
    ready = all(found.values())
    answer = {"status": "ready" if ready else "not ready", "checks": found}
    response = JsonResponse(answer, status=200 if ready else 503)
    # Whoever waits for us asks again and again; "not yet" is an answer, not a fault to log.
    response._has_been_logged = True  # type: ignore[attr-defined]  # Django's own mark
    return response


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Counters for Prometheus, for whoever has the token or asks from this machine itself."""
    if not _may_read_metrics(request):
        raise Http404
    return HttpResponse(generate_latest(_counters()), content_type=CONTENT_TYPE_LATEST)


def _counters() -> CollectorRegistry:
    """This process's counters, or those of all processes of this machine where they are shared."""
    if not settings.METRICS_ARE_SHARED:
        return REGISTRY
    shared = CollectorRegistry()
    multiprocess.MultiProcessCollector(shared)  # type: ignore[no-untyped-call]  # untyped there
    return shared


def _database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return bool(cursor.fetchone() == (1,))
    except (DatabaseError, PoolTimeout):
        return False


def _broker() -> bool:
    client = redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=BROKER_TIMEOUT_S,
        socket_connect_timeout=BROKER_TIMEOUT_S,
    )
    try:
        return bool(client.ping())
    except (redis.RedisError, OSError):
        return False
    finally:
        client.close()


def _worker() -> bool:
    try:
        age_s = heartbeats.newest_age_s()
    except (DatabaseError, PoolTimeout):
        return False
    return age_s is not None and age_s <= WORKER_SEEN_WITHIN_S


CHECKS: Final[dict[str, Callable[[], bool]]] = {
    "database": _database,
    "broker": _broker,
    "worker": _worker,
}


def _may_read_metrics(request: HttpRequest) -> bool:
    header = request.headers.get("Authorization", "")
    if settings.METRICS_TOKEN and hmac.compare_digest(
        header.encode(), f"Bearer {settings.METRICS_TOKEN}".encode()
    ):
        return True
    # A proxy on this machine asks for somebody else, whom its headers name.
    forwarded = any(name in request.META for name in FORWARDING_HEADERS)
    return not forwarded and _is_loopback(request.META.get("REMOTE_ADDR", ""))


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False

"""From reachable services to a database the product can run on. Used by `manage.py prepare`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import redis
from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connections

from agents.gateway import deployments
from audit.refusals import Refusal
from kaizen.embedded.failures import StartRefused

POSTGRES_OLDEST = 150_000  # 15.0, as the server counts its versions
REDIS_TIMEOUT_S = 5.0


def prepare(*, say: Callable[[str], None]) -> None:
    """Check both services, migrate as the owner, bring in what ships. Safe to repeat.

    Raises StartRefused when a service is not reachable, too old, or closed to our role.
    """
    check_database("owner")
    check_broker()
    with _explained("owner"):
        say("migrating")
        call_command("migrate", database="owner", verbosity=0, interactive=False)
    with _explained("default"):
        call_command("reconcile_bundles", verbosity=0)
        _connect_default_model()


def check_database(alias: str) -> None:
    """Reachable, and a PostgreSQL that is new enough."""
    with _explained(alias):
        connection = connections[alias]
        connection.ensure_connection()
        version = connection.pg_version  # type: ignore[attr-defined]  # PostgreSQL's own
    if version < POSTGRES_OLDEST:
        raise StartRefused(
            f"The database server is PostgreSQL {version // 10_000}; Kaizen needs 15 or newer.",
            "Name a newer server in DATABASE_URL, or unset it to use the embedded one.",
        )


def check_broker() -> None:
    """Reachable, with the password of REDIS_URL."""
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=REDIS_TIMEOUT_S)
    try:
        client.ping()
    except redis.RedisError as fault:
        raise StartRefused(
            f"Redis does not answer: {_first_line(fault)}",
            "Start it or correct REDIS_URL, or unset REDIS_URL to use the embedded one.",
        ) from fault
    finally:
        client.close()


def _connect_default_model() -> None:
    try:
        deployments.ensure_default()
    except Refusal as refusal:
        raise StartRefused(
            f"KAIZEN_MODEL_BASE_URL cannot be used: {refusal}",
            "Correct it, or unset it to use the local trial model.",
        ) from refusal


@contextmanager
def _explained(alias: str) -> Iterator[None]:
    try:
        yield
    except OperationalError as fault:
        own_url = alias == "owner" and settings.DATABASE_OWNER_URL != settings.DATABASE_URL
        name = "DATABASE_OWNER_URL" if own_url else "DATABASE_URL"
        raise StartRefused(
            f"The database does not work: {_first_line(fault)}",
            f"Check that the server runs, that its disk has space, and {name};"
            " or unset DATABASE_URL to use the embedded one.",
        ) from fault


def _first_line(fault: Exception) -> str:
    lines = str(fault).strip().splitlines()
    return lines[0] if lines else type(fault).__name__

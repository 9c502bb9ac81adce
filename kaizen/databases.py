"""Database URLs turned into Django connection settings."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from kaizen.environment import InvalidSetting

POOL_MAX_CONNECTIONS = 10  # connections per process (measured budget, see ARCHITECTURE.md)
POOL_WAIT_SECONDS = 10
PREPARE_AFTER = 3  # executions of a statement on one connection


def connection(
    name: str, url: str, *, statement_timeout_ms: int, lock_timeout_ms: int, pooled: bool
) -> dict[str, Any]:
    """Settings for one alias. A `host` query parameter names a Unix-socket folder."""
    parts = urlsplit(url)
    database = unquote(parts.path.lstrip("/"))
    if parts.scheme not in {"postgres", "postgresql"} or not database:
        raise InvalidSetting(name, "must look like postgresql://user:password@host:port/database")
    options: dict[str, Any] = {
        "connect_timeout": 5,
        "options": (
            f"-c statement_timeout={statement_timeout_ms} -c lock_timeout={lock_timeout_ms}"
            " -c idle_in_transaction_session_timeout=10000"
        ),
    }
    query = dict(parse_qsl(parts.query))
    host = query.pop("host", "") or unquote(parts.hostname or "")
    options.update(query)
    if pooled:
        # The same few dozen statements run for every message: planned once per connection they
        # cost half. A pooler in between must keep sessions (PgBouncer: `pool_mode = session`).
        options["server_side_binding"] = True
        options["prepare_threshold"] = PREPARE_AFTER
        options["pool"] = {
            "min_size": 1,
            "max_size": POOL_MAX_CONNECTIONS,
            "timeout": POOL_WAIT_SECONDS,
            "name": f"kaizen-{name.lower()}",
        }
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
        "ATOMIC_REQUESTS": False,
        "OPTIONS": options,
    }

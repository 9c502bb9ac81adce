"""The URLs of embedded services, for the environment of processes that use them."""

from urllib.parse import quote

from kaizen.embedded.credentials import Credentials
from kaizen.embedded.layout import Layout

DATABASE = "kaizen"
OWNER = "kz_owner"
RUNTIME = "kz_app"


def database(layout: Layout, role: str, password: str, name: str = DATABASE) -> str:
    """A PostgreSQL URL over the Unix socket."""
    return f"postgresql://{role}:{password}@/{name}?host={quote(str(layout.service_run))}"


def broker(layout: Layout, credentials: Credentials) -> str:
    """A Redis URL over the Unix socket."""
    return f"unix://:{credentials.broker}@{quote(str(layout.valkey_socket))}?db=0"


def environment(layout: Layout, credentials: Credentials, *, owner: bool) -> dict[str, str]:
    """Both URLs; the owner's only for processes that migrate."""
    urls = {
        "DATABASE_URL": database(layout, RUNTIME, credentials.database_runtime),
        "REDIS_URL": broker(layout, credentials),
    }
    if owner:
        urls["DATABASE_OWNER_URL"] = database(layout, OWNER, credentials.database_owner)
    return urls

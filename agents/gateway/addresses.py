"""Addresses of model servers: which are allowed, and what their origin is."""

from urllib.parse import urlsplit

from django.core.exceptions import ValidationError

# The path an OpenAI-compatible server has behind a Unix socket, where an address names none.
UNIX_BASE_PATH = "/v1"
_DEFAULT_PORTS = {"http": 80, "https": 443}


def validate(base_url: str) -> None:
    """Raise `ValidationError` unless this is `http(s)://host[:port][/path]` or `unix:///path`.

    Credentials inside an address are refused: they would be stored and shown.
    """
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError:
        raise ValidationError("This is no address.") from None
    if parts.query or parts.fragment or "@" in parts.netloc or not base_url.isprintable():
        raise ValidationError("An address has no sign-in data, question mark or fragment.")
    if parts.scheme == "unix":
        if parts.netloc or not parts.path.startswith("/") or parts.path == "/":
            raise ValidationError("A socket's address looks like unix:///path/to/model.sock.")
    elif parts.scheme not in _DEFAULT_PORTS or not parts.hostname or port == 0:
        raise ValidationError("An address starts with http://, https:// or unix:///.")


def origin(base_url: str) -> str:
    """What a secret is bound to: scheme, host and port, or the path of a socket."""
    parts = urlsplit(base_url)
    if parts.scheme == "unix":
        return f"unix://{parts.path}"
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}:{parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)}"


def completions(base_url: str) -> tuple[str, str | None]:
    """The URL of chat completions, and the Unix socket it is reached through, if any."""
    parts = urlsplit(base_url)
    if parts.scheme == "unix":
        return f"http://localhost{UNIX_BASE_PATH}/chat/completions", parts.path
    return f"{base_url.rstrip('/')}/chat/completions", None

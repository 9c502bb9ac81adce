"""Typed readers of the process environment. A bad value stops start-up and is named, not shown."""

import os
from pathlib import Path
from urllib.parse import urlsplit

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off"})


class InvalidSetting(Exception):
    """An environment variable cannot be used. The text names it and the reason, not its value."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


def text(name: str, default: str | None = None) -> str:
    """The variable's text without surrounding blanks; an empty value counts as unset."""
    value = os.environ.get(name, "").strip()
    if value:
        return value
    if default is None:
        raise InvalidSetting(name, "must be set")
    return default


def boolean(name: str, default: bool) -> bool:
    """Exactly one of 1/0, true/false, yes/no, on/off; anything else is refused."""
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    raise InvalidSetting(name, "must be one of 1, 0, true, false, yes, no, on, off")


def integer(name: str, default: int, *, minimum: int, maximum: int) -> int:
    """A whole number between minimum and maximum, both included."""
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    try:
        number = int(value)
    except ValueError:
        raise InvalidSetting(name, "must be a whole number") from None
    if not minimum <= number <= maximum:
        raise InvalidSetting(name, f"must be between {minimum} and {maximum}")
    return number


def url(name: str, default: str | None = None, *, schemes: frozenset[str]) -> str:
    """An absolute URL with one of the given schemes."""
    value = text(name, default)
    if not value:
        return value
    parts = urlsplit(value)
    if parts.scheme not in schemes:
        raise InvalidSetting(name, f"must start with one of: {', '.join(sorted(schemes))}")
    return value


def origin(name: str, default: str | None = None) -> str:
    """A web origin: scheme, host and port without anything behind, not even a slash."""
    value = url(name, default, schemes=frozenset({"http", "https"})).rstrip("/")
    parts = urlsplit(value)
    if value and value != f"{parts.scheme}://{parts.netloc}":
        raise InvalidSetting(name, "must be a scheme, a host and maybe a port, nothing more")
    return value


def choice(name: str, default: str, *, among: frozenset[str]) -> str:
    """One of a closed set of words."""
    value = text(name, default)
    if value not in among:
        raise InvalidSetting(name, f"must be one of: {', '.join(sorted(among))}")
    return value


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list without empty items."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def path(name: str, default: Path) -> Path:
    """An absolute path; a leading ~ is expanded."""
    value = os.environ.get(name, "").strip()
    return Path(value).expanduser().resolve() if value else default


def prefixed(prefix: str) -> dict[str, str]:
    """All variables whose name starts with the prefix, by full name."""
    return {name: value for name, value in os.environ.items() if name.startswith(prefix) and value}

"""Credentials and raw answers of providers in an envelope: refused, never blanked. Pure.

A blanked value would be kept as if the producer had meant it so; a refusal makes it look again.
"""

from collections.abc import Iterator
from typing import Any, Final

from audit import credentials

# Names, without dashes and underscores and in lower case, whose text opens something.
CREDENTIAL_NAMES: Final = frozenset(
    {
        "accesskey",
        "accesstoken",
        "apikey",
        "apitoken",
        "authorization",
        "authtoken",
        "bearer",
        "bearertoken",
        "clientsecret",
        "cookie",
        "idtoken",
        "passphrase",
        "passwd",
        "password",
        "privatekey",
        "proxyauthorization",
        "refreshtoken",
        "secretaccesskey",
        "secretkey",
        "sessiontoken",
        "setcookie",
        "xapikey",
    }
)
# What holds an answer as it came.
RAW_NAMES: Final = frozenset(
    {
        "httpresponse",
        "providerresponse",
        "rawresponse",
        "requestheaders",
        "responsebody",
        "responseheaders",
        "upstreamresponse",
    }
)
# Keys that only stand together in an answer nobody has filtered: of HTTP, and of models.
RAW_SHAPES: Final = (
    frozenset({"headers", "status"}),
    frozenset({"headers", "statuscode"}),
    frozenset({"headers", "body"}),
    frozenset({"choices", "usage"}),
    frozenset({"choices", "model"}),
    frozenset({"stopreason", "usage"}),
    frozenset({"candidates", "usagemetadata"}),
    frozenset({"jsonrpc", "result"}),
    frozenset({"jsonrpc", "error"}),
)


def found(envelope: dict[str, Any], secrets: tuple[str, ...]) -> Iterator[str]:
    """Where payload or provenance of an envelope leaks; `secrets` are values kept secret here."""
    for part in ("payload", "provenance", "text_fallback"):
        yield from (f"{part} {problem}" for problem in set(_in(envelope[part], secrets)))


def _in(root: Any, secrets: tuple[str, ...]) -> Iterator[str]:
    """One look at every value, without recursion; `root` is bounded in depth and size."""
    waiting = [root]
    seen: set[str] = set()  # tables repeat their keys and many of their cells
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if value not in seen and credentials.masked(value, secrets) != value:
                yield "holds a credential"
            seen.add(value)
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            yield from _in_object(value)
            waiting += value
            waiting += value.values()


def _in_object(value: dict[str, Any]) -> Iterator[str]:
    plain = [(_plain(key), inner) for key, inner in value.items()]
    names = {name for name, _ in plain}
    if any(name in CREDENTIAL_NAMES and _filled(inner) for name, inner in plain):
        yield "has a field for a credential"
    if "value" in value and _filled(value["value"]):
        called = value.get("name") or value.get("key")
        if isinstance(called, str) and _plain(called) in CREDENTIAL_NAMES:
            yield "has a field for a credential"
    is_nested = any(isinstance(inner, dict | list) for inner in value.values())
    # a row of a table has cells only, whatever its columns are called
    if names & RAW_NAMES or (is_nested and any(shape <= names for shape in RAW_SHAPES)):
        yield "holds an unfiltered answer of a provider"


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def _filled(value: Any) -> bool:
    """Whether something stands there that could open a door; counts and switches cannot."""
    return bool(value) and not isinstance(value, bool | int | float)

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
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if credentials.masked(value, secrets) != value:
                yield "holds a credential"
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            names = {_plain(key): key for key in value}
            if any(_filled(value[names[name]]) for name in CREDENTIAL_NAMES & names.keys()):
                yield "has a field for a credential"
            if RAW_NAMES & names.keys() or any(_is_raw(value, names, one) for one in RAW_SHAPES):
                yield "holds an unfiltered answer of a provider"
            waiting += value
            waiting += value.values()


def _is_raw(value: dict[str, Any], names: dict[str, str], shape: frozenset[str]) -> bool:
    """Whether the keys stand together with something nested: a row of a table has cells only."""
    return shape <= names.keys() and any(
        isinstance(value[names[name]], dict | list) for name in shape
    )


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def _filled(value: Any) -> bool:
    """Whether something stands there that could open a door; counts and switches cannot."""
    return bool(value) and not isinstance(value, bool | int | float)

"""Certificate authorities by reference: names of environment variables that hold a path.

A deployment names a bundle; where it lies, only the environment says. So nobody can point the
server at another of its files through the administration.
"""

import ssl
from functools import lru_cache

from django.conf import settings

from agents.gateway.connection import TlsPolicy
from audit.reasons import Reason
from audit.refusals import Refusal


class Unreadable(Exception):
    """The bundle is missing or holds no certificates."""


def names() -> list[str]:
    """The references that can be picked now."""
    return sorted(settings.CA_BUNDLES)


def file(reference: str) -> str | None:
    """The path of a bundle, None for no reference.

    Raises `Refusal(CERTIFICATES_MISSING)` when the environment does not name it: a server that
    must be vouched for by its own authority is not reached with any other.
    """
    if not reference:
        return None
    path = settings.CA_BUNDLES.get(reference)
    if not path:
        raise Refusal(
            Reason.CERTIFICATES_MISSING,
            f"The certificate bundle {reference} of this deployment is not in the environment.",
        )
    return str(path)


def context(policy: TlsPolicy) -> ssl.SSLContext | bool:
    """What the HTTP client needs. Raises `Unreadable` for a bundle that is none."""
    if not policy.verify:
        return False
    return True if policy.ca_file is None else _trusting(policy.ca_file)


@lru_cache(maxsize=32)
def _trusting(path: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=path)
    except (OSError, ValueError):
        raise Unreadable(path) from None

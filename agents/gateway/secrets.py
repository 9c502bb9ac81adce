"""Secrets by reference: names of environment variables, each good for one origin only.

The values live in `settings.SECRETS` and are read at the moment of a call. They are never stored,
shown or logged.
"""

from typing import TYPE_CHECKING

from django.conf import settings

from agents.gateway import addresses
from audit.reasons import Reason
from audit.refusals import Refusal

if TYPE_CHECKING:
    from agents.gateway.models import Deployment


def names() -> list[str]:
    """The references that can be picked now."""
    return sorted(settings.SECRETS)


def resolve(deployment: "Deployment") -> str | None:
    """The deployment's secret, None when it needs none.

    Raises `Refusal`: `SECRET_ORIGIN_CHANGED` when the address has moved to an origin the secret
    was not entered for, `SECRET_MISSING` when the environment does not hold it.
    """
    if not deployment.secret_ref:
        return None
    if addresses.origin(deployment.base_url) != deployment.secret_origin:
        raise Refusal(
            Reason.SECRET_ORIGIN_CHANGED,
            "The key of this deployment was entered for another address.",
        )
    secret = settings.SECRETS.get(deployment.secret_ref)
    if not secret:
        raise Refusal(
            Reason.SECRET_MISSING,
            f"The key {deployment.secret_ref} of this deployment is not in the environment.",
        )
    if not secret.isascii() or not secret.isprintable():
        raise Refusal(
            Reason.SECRET_MISSING,
            f"The key {deployment.secret_ref} of this deployment holds characters no key has.",
        )
    return str(secret)

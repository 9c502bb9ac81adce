"""Password sign-in with the throttle in front of the password check."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from agents.members import throttling
from agents.members.models import Member
from audit import funnel
from audit.reasons import Action, Reason


class ThrottledModelBackend(ModelBackend):
    """Django's password backend; a blocked name and address is refused before hashing."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> Member | None:
        if not username or password is None:
            return None
        address = request.META.get("REMOTE_ADDR", "") if request else ""
        throttle_key = throttling.key(username, address)
        if not throttling.admit(throttle_key):
            _record_failure(Reason.RATE_LIMITED)
            raise PermissionDenied
        member = super().authenticate(request, username=username, password=password, **kwargs)
        if member is None:
            _record_failure(Reason.NOT_AUTHENTICATED)
            return None
        throttling.clear(throttle_key)
        return member


def _record_failure(reason: Reason) -> None:
    funnel.record(action=Action.SIGN_IN_FAILED, actor="anonymous", outcome="denied", reason=reason)

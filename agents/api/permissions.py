"""The first question of every call: signed in, and is the proof made for this kind of call?

What a person may do to a given row is decided by the querysets and operations, never here.
"""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from agents.members.credentials import Credential, not_authenticated
from audit.reasons import Reason
from audit.refusals import Refusal


class SignedInWithinScope(BasePermission):
    """Refuses anonymous calls (401) and tokens whose scope is too small (403)."""

    def has_permission(self, request: Request, view: Any) -> bool:
        operation = view.operation_of(request.method or "")
        if operation is None or operation.public:
            return True  # a method this path does not take is answered with 405 next
        credential = request.auth
        if not isinstance(credential, Credential):
            raise not_authenticated()
        if not credential.allows(operation.scope):
            raise Refusal(
                Reason.SCOPE_MISSING, f"This call needs a token with scope {operation.scope}."
            )
        return True

"""Errors that carry meaning: what policy, state or shape forbids, said with a closed reason.

Raised anywhere below the doors and turned into an answer by the door that was knocked at. No
HTTP, no framework, and never a secret or somebody else's data in the message: the caller may read
it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from audit.reasons import Reason


class FieldProblem(TypedDict):
    """One wrong field: its dotted path (`content.name`) and a reason code."""

    field: str
    reason: str


class Refusal(Exception):
    """Something was refused. `message` is a sentence for the person who asked, `fields` names
    wrong fields.
    """

    def __init__(
        self, reason: Reason, message: str, *, fields: Sequence[FieldProblem] | None = None
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.fields: list[FieldProblem] = list(fields or ())


class NotFound(Refusal):
    """Missing or invisible. Always the same words, so that the two cannot be told apart."""

    def __init__(self) -> None:
        super().__init__(Reason.NOT_FOUND, "Not found.")


class Invalid(Refusal):
    """The input was read and some of its fields are wrong."""

    def __init__(
        self,
        fields: Sequence[FieldProblem],
        message: str = "Some fields are not right.",
        *,
        reason: Reason = Reason.INVALID_BODY,
    ) -> None:
        super().__init__(reason, message, fields=fields)


class Conflict(Refusal):
    """The state has moved on. `current` is the version the caller should look at, where there is
    one; `details` say more about what has changed, to somebody who may read it.
    """

    def __init__(
        self,
        reason: Reason = Reason.STALE_VERSION,
        message: str = "Somebody changed this in the meantime.",
        *,
        current: int | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(reason, message)
        self.current = current
        self.details = dict(details or {})


class RateLimited(Refusal):
    """Too much in a time or a budget used up. `retry_after_s` is in whole seconds, at least 1."""

    def __init__(
        self,
        message: str = "Too many requests. Try again a little later.",
        *,
        retry_after_s: int,
        reason: Reason = Reason.RATE_LIMITED,
    ) -> None:
        super().__init__(reason, message)
        self.retry_after_s = max(1, retry_after_s)

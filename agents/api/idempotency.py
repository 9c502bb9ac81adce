"""One effect for one key: the first answer is kept and given again.

The key row is inserted before the effect, in its transaction. Calls that come at the same time
with the same key wait at the unique constraint until the first commits (and then give its answer)
or rolls back (and then one of them does the work). A refused call leaves nothing behind, so it may
be corrected and sent again under the same key.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.db import connection, transaction
from django.db.models.functions import Now

from agents.api.models import KeptAnswer
from agents.api.renderers import render
from agents.conversations.inputs import KEY
from agents.members.models import Member
from audit import canonical
from audit.reasons import Reason
from audit.refusals import Refusal

HEADER: Final = "Idempotency-Key"
KEPT_FOR: Final = timedelta(hours=24)  # longer than any client keeps retrying one call


@dataclass(frozen=True)
class Attempt:
    """One try of one call: whose, where (method and path), under which key, with which body."""

    member: Member
    route: str
    key: str
    body: Any

    @property
    def digest(self) -> str:
        """What tells bodies apart; order and blanks of the JSON text do not."""
        return canonical.digest(self.body)


def key_of(header: str | None, *, required: bool) -> str | None:
    """The key of a call; raises `Refusal` where it is missing but required, or has a bad form."""
    if header is None:
        if required:
            raise Refusal(
                Reason.IDEMPOTENCY_KEY_REQUIRED, f"Send an {HEADER} header with this call."
            )
        return None
    if not KEY.fullmatch(header):
        raise Refusal(
            Reason.IDEMPOTENCY_KEY_INVALID, "A key has 1 to 200 printable ASCII characters."
        )
    return header


def once(
    attempt: Attempt, act: Callable[[], Any], *, status: int, shown_once: tuple[str, ...] = ()
) -> tuple[int, bytes]:
    """Status and bytes of the first successful `act` under this key.

    Fields of the answer named in `shown_once` are kept as null. Raises
    `Refusal(IDEMPOTENCY_CONFLICT)` when the key came with another body before, and whatever `act`
    raises.
    """
    with transaction.atomic():
        row_id = _claim(attempt)
        if row_id is None:
            return _kept(attempt)
        answer = act()
        kept = {**answer, **dict.fromkeys(shown_once)} if shown_once else answer
        KeptAnswer.objects.filter(id=row_id).update(status=status, body=render(kept))
    return status, render(answer)


def forget() -> int:
    """Remove answers older than a day; returns how many."""
    removed, _ = KeptAnswer.objects.filter(created_at__lt=Now() - KEPT_FOR).delete()
    return removed


def _claim(attempt: Attempt) -> int | None:
    """The id of a new row for the key, or None where the key exists. Waits for a twin to end."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO api_keptanswer (member_id, route, key, body_digest)"
            " VALUES (%s, %s, %s, %s) ON CONFLICT (member_id, route, key) DO NOTHING"
            " RETURNING id",
            [attempt.member.pk, attempt.route, attempt.key, attempt.digest],
        )
        row = cursor.fetchone()
    return row[0] if row else None


def _kept(attempt: Attempt) -> tuple[int, bytes]:
    row = KeptAnswer.objects.filter(
        member=attempt.member, route=attempt.route, key=attempt.key
    ).first()
    if row is None or row.status is None or row.body is None:
        # Forgotten between the two statements: the caller's next try starts afresh.
        raise Refusal(Reason.UNAVAILABLE, "Busy at the moment. Try again.")
    if row.body_digest != attempt.digest:
        raise Refusal(Reason.IDEMPOTENCY_CONFLICT, "This key was used with another body.")
    return row.status, bytes(row.body)

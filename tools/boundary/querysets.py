"""Who may see approvals: the member they ask, and nobody else."""

from typing import Any, Protocol, Self

from django.db import models
from django.db.models import Case, IntegerField, Q, Value, When
from django.db.models.functions import Now


class Asked(Protocol):
    """The person an approval asks, as far as this layer knows people."""

    @property
    def pk(self) -> Any: ...

    @property
    def is_active(self) -> bool: ...


class ApprovalQuerySet(models.QuerySet[Any]):
    """Approvals as one person may reach them."""

    def visible_to(self, member: Asked) -> Self:
        """Approvals that ask this person, open and settled."""
        if not member.is_active:
            return self.none()
        return self.filter(member_id=member.pk)

    def pending(self) -> Self:
        """Those that wait for an answer and can still get one.

        Nothing that waits has been decided; said so, the few that wait are found by their own index
        however many were settled before.
        """
        return self.filter(decided_at__isnull=True).saying_which_wait().filter(waits=1)

    def saying_which_wait(self) -> Self:
        """With `waits`: 1 for those that can still get an answer, 0 for all others."""
        waiting = Q(state="pending", expires_at__gt=Now()) | Q(state="unasked")
        return self.annotate(
            waits=Case(When(waiting, then=Value(1)), default=Value(0), output_field=IntegerField())
        )

"""Which rows about people a person may see."""

from typing import TYPE_CHECKING, Any, Self

from django.db import models
from django.db.models.functions import Now

if TYPE_CHECKING:
    from agents.members.models import Member


class AccessTokenQuerySet(models.QuerySet[Any]):
    """Access tokens, always asked for a person or by digest."""

    def visible_to(self, member: "Member") -> Self:
        """A person's own tokens."""
        return self.filter(member_id=member.pk)

    def usable(self) -> Self:
        """Tokens that open something now: not revoked, not expired, of an active person."""
        return self.filter(
            revoked_at__isnull=True, expires_at__gt=Now(), member__is_active=True
        ).select_related("member")

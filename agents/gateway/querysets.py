"""Which deployments answer, and which model calls a person may see."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.db import models
from django.db.models import Case, Count, Sum, When
from django.db.models.functions import Coalesce, TruncDate

if TYPE_CHECKING:
    from agents.members.models import Member


class DeploymentQuerySet(models.QuerySet[Any]):
    """Deployments hold nothing of members, so everybody may know the usable ones."""

    def enabled(self) -> Self:
        """Deployments that are switched on."""
        return self.filter(enabled=True)

    def answering(self) -> Self:
        """Deployments that answer, by themselves or through the one that stands in for them."""
        return self.filter(models.Q(enabled=True) | models.Q(fallback__enabled=True))


class ModelRoleQuerySet(models.QuerySet[Any]):
    def answering(self, role: str) -> Self:
        """The role's row when its deployment is enabled."""
        return self.filter(role=role, deployment__enabled=True).select_related("deployment")


class ModelCallQuerySet(models.QuerySet[Any]):
    def visible_to(self, member: "Member") -> Self:
        """Calls made for this person."""
        return self.filter(member_id=member.pk)

    def of_run(self, run_id: UUID) -> Self:
        """One turn's calls in the order they ended."""
        return self.filter(run_id=run_id).order_by("id")

    def since(self, at: datetime) -> Self:
        """Calls that ended at this instant or later."""
        return self.filter(at__gte=at)

    def by_day(self) -> models.QuerySet[Any, dict[str, Any]]:
        """Counts and sums for each day of UTC, the newest first."""
        summed = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens", "cost")
        days: models.QuerySet[Any, dict[str, Any]] = (
            self.annotate(day=TruncDate("at", tzinfo=UTC))
            .values("day")
            .annotate(
                calls=Count("id"),
                failed=Count("id", filter=models.Q(outcome="failed")),
                **{f"sum_{name}": Coalesce(Sum(name), 0) for name in summed},
            )
            .order_by("-day")
        )
        return days


class BudgetQuerySet(models.QuerySet[Any]):
    def enabled(self) -> Self:
        """Budgets that are kept."""
        return self.filter(enabled=True)

    def now(self) -> Self:
        """With what is used and held of the period that is running, `used_now` and `held_now`."""
        today = datetime.now(UTC).date()
        running = models.Q(period="day", period_start=today) | models.Q(
            period="month", period_start=today.replace(day=1)
        )
        return self.annotate(
            used_now=Case(When(running, then=models.F("used")), default=0),
            held_now=Case(When(running, then=models.F("held")), default=0),
        )

    def visible_to(self, member: "Member") -> Self:
        """Budgets that this person's calls count towards."""
        groups = member.groups.through.objects.filter(member_id=member.pk).values("group_id")
        return self.enabled().filter(models.Q(member_id=member.pk) | models.Q(group_id__in=groups))

"""Which deployments answer, and which model calls a person may see."""

from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.db import models

if TYPE_CHECKING:
    from agents.members.models import Member


class DeploymentQuerySet(models.QuerySet[Any]):
    """Deployments hold nothing of members, so everybody may know the usable ones."""

    def enabled(self) -> Self:
        """Deployments that answer."""
        return self.filter(enabled=True)


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

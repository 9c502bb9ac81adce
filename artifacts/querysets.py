"""Who may see and edit an artifact. SQL only; superusers are not exempt."""

from typing import Any, Final, Protocol, Self
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import Exists, OuterRef

from audit import reaching
from audit.reaching import Reached

# Editing includes reading.
READ: Final = ("view_shared_artifact", "edit_artifact")
EDIT: Final = ("edit_artifact",)


class Actor(Protocol):
    """The person who asks: an id and whether the account is switched on."""

    @property
    def pk(self) -> Any: ...

    is_active: bool


class ArtifactQuerySet(models.QuerySet[Any]):
    """Artifacts as one person may reach them."""

    def visible_to(self, actor: Actor) -> Self:
        """Own artifacts and those shared with the person or a group of theirs."""
        return self._living(actor).filter(Reached(actor.pk, READ))

    def editable_by(self, actor: Actor) -> Self:
        """Artifacts a person may write another version of."""
        return self._living(actor).filter(Reached(actor.pk, EDIT))

    def owned_by(self, actor: Actor) -> Self:
        """Artifacts a person may delete and share."""
        return self._living(actor).filter(owner_id=actor.pk)

    def nearest(self, actor: Actor, count: int, *order: str) -> Self:
        """Visible rows that can be among the first `count` in this order: what lists ask, so that
        they cost the same however many artifacts there are.
        """
        return reaching.nearest(self, actor.pk, READ, count, order)

    def made_in(self, conversation_id: UUID) -> Self:
        """Artifacts a conversation has made."""
        return self.filter(conversation_id=conversation_id)

    def _living(self, actor: Actor) -> Self:
        return self.filter(deleted_at__isnull=True) if actor.is_active else self.none()


class ArtifactVersionQuerySet(models.QuerySet[Any]):
    """Versions, reached through an artifact the person may see."""

    def visible_to(self, actor: Actor) -> Self:
        """Every version of visible artifacts."""
        artifacts = apps.get_model("artifacts", "Artifact").objects.visible_to(actor)
        return self.filter(artifact__in=artifacts)


class StagedArtifactQuerySet(models.QuerySet[Any]):
    """Artifacts that runs are writing."""

    def visible_to(self, actor: Actor) -> Self:
        """What runs of the person write for them."""
        return self.filter(owner_id=actor.pk) if actor.is_active else self.none()

    def of_run(self, run_id: UUID) -> Self:
        """What one run writes; no other run reaches it."""
        return self.filter(run_id=run_id)

    def abandoned(self) -> Self:
        """Those whose run has ended: nobody can go on with them."""
        claims = apps.get_model("effects", "RunClaim").objects
        still_open = claims.filter(run_id=OuterRef("run_id"), settled_at__isnull=True)
        return self.filter(~Exists(still_open))


class StagedPartQuerySet(models.QuerySet[Any]):
    """Parts, reached through what they are parts of."""

    def visible_to(self, actor: Actor) -> Self:
        """Every part of what runs of the person write."""
        staged = apps.get_model("artifacts", "StagedArtifact").objects.visible_to(actor)
        return self.filter(staged__in=staged)

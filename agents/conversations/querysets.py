"""Who may see conversations and inputs. SQL only; the actor is always an argument."""

from typing import TYPE_CHECKING, Any, Self

from django.apps import apps
from django.db import models

if TYPE_CHECKING:
    from agents.members.models import Member


class ConversationQuerySet(models.QuerySet[Any]):
    """Conversations as one person may reach them."""

    def visible_to(self, member: "Member") -> Self:
        """A person's own conversations that are not deleted."""
        if not member.is_active:
            return self.none()
        return self.filter(owner_id=member.pk, deleted_at__isnull=True)

    def editable_by(self, member: "Member") -> Self:
        """Conversations a person may write into, rename and delete."""
        return self.visible_to(member)

    def deleted_by(self, member: "Member") -> Self:
        """A person's own conversations that they deleted."""
        if not member.is_active:
            return self.none()
        return self.filter(owner_id=member.pk, deleted_at__isnull=False)

    def kept(self) -> Self:
        """Not archived."""
        return self.filter(archived_at__isnull=True)

    def archived(self) -> Self:
        """Put aside by their owner."""
        return self.filter(archived_at__isnull=False)


class InputQuerySet(models.QuerySet[Any]):
    """Inputs, reached through their conversation."""

    def visible_to(self, member: "Member") -> Self:
        """Inputs of conversations the person may see."""
        conversations = apps.get_model("conversations", "Conversation").objects
        return self.filter(conversation__in=conversations.visible_to(member))

    def open(self) -> Self:
        """Accepted and not yet ended."""
        return self.filter(status__in=["queued", "active"])

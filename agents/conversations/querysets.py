"""Who may see conversations and inputs. SQL only; the actor is always an argument."""

from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

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

    def with_agent(self, named: str, member: "Member") -> Self:
        """Whose last agent has this id, or else is one of this name that the person may use."""
        try:
            return self.filter(agent_id=UUID(named))
        except ValueError:
            agents = apps.get_model("definitions", "Agent").objects.usable_by(member)
            return self.filter(agent__in=agents.filter(name=named))

    def matching(self, words: str) -> Self:
        """Whose title or messages hold the words, in any case."""
        inputs = apps.get_model("conversations", "Input").objects
        asked = inputs.filter(conversation=OuterRef("pk"), message__icontains=words)
        return self.filter(Q(title__icontains=words) | Exists(asked))


class InputQuerySet(models.QuerySet[Any]):
    """Inputs, reached through their conversation."""

    def visible_to(self, member: "Member") -> Self:
        """Inputs of conversations the person may see."""
        conversations = apps.get_model("conversations", "Conversation").objects
        return self.filter(conversation__in=conversations.visible_to(member))

    def open(self) -> Self:
        """Accepted and not yet ended."""
        return self.filter(status__in=["queued", "active"])


class SteerQuerySet(models.QuerySet[Any]):
    """Messages to running turns."""

    def visible_to(self, member: "Member") -> Self:
        """The person's own steers, in conversations that they may see."""
        conversations = apps.get_model("conversations", "Conversation").objects
        return self.filter(member_id=member.pk, conversation__in=conversations.visible_to(member))

    def open(self) -> Self:
        """Neither applied nor rejected."""
        return self.filter(state__in=["pending", "claimed"])

    def changeable(self) -> Self:
        """Not handed over: pending, or claimed by a worker that has not come back in time."""
        return self.filter(Q(state="pending") | Q(state="claimed", claimed_until__lt=Now()))

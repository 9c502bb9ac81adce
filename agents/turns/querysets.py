"""Who may see turns: whoever may see their conversation."""

from typing import TYPE_CHECKING, Any, Self

from django.apps import apps
from django.db import models

if TYPE_CHECKING:
    from agents.members.models import Member


class TurnQuerySet(models.QuerySet[Any]):
    """Turns, reached through their conversation."""

    def visible_to(self, member: "Member") -> Self:
        """Turns of conversations the person may see."""
        conversations = apps.get_model("conversations", "Conversation").objects
        return self.filter(conversation__in=conversations.visible_to(member))

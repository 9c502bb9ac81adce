"""Who may see, use, duplicate or edit an agent. SQL only; superusers are not exempt."""

from typing import TYPE_CHECKING, Any, Final, Self

from django.apps import apps
from django.db import models
from django.db.models import Q

from audit import reaching
from audit.reaching import Reached

if TYPE_CHECKING:
    from agents.members.models import Member

# Editing and duplicating include using; neither includes the other.
USE: Final = ("use_agent", "duplicate_agent", "edit_agent")
DUPLICATE: Final = ("duplicate_agent",)
EDIT: Final = ("edit_agent",)
READ: Final = (*DUPLICATE, *EDIT)


# An agent that an administrator opened to all members.
EVERYBODY: Final = "{row}.audience = 'everyone'"
# One that ships with Kaizen, so opened: its definition is no secret.
SHIPPED: Final = "({row}.audience = 'everyone' AND {row}.protected)"


class AgentQuerySet(models.QuerySet[Any]):
    """Agents as one person may reach them."""

    def visible_to(self, member: "Member") -> Self:
        """Agents a person may use, search and read; the same set as `usable_by`."""
        return self.usable_by(member)

    def usable_by(self, member: "Member") -> Self:
        """Own agents, those for everyone, and those shared with the person or a group of theirs."""
        return self._living(member).filter(Reached(member.pk, USE, EVERYBODY))

    def duplicable_by(self, member: "Member") -> Self:
        """Agents whose definition a person may copy: own, bundles, and shares that say so."""
        return self._living(member).filter(Reached(member.pk, DUPLICATE, SHIPPED))

    def readable_by(self, member: "Member") -> Self:
        """Agents whose definition and versions a person may read: those they may copy or edit.

        Using an agent is not enough: who can read a persona can copy it.
        """
        return self._living(member).filter(Reached(member.pk, READ, SHIPPED))

    def editable_by(self, member: "Member") -> Self:
        """Agents a person may append a version to; never a protected one."""
        return self._living(member).filter(Reached(member.pk, EDIT), protected=False)

    def owned_by(self, member: "Member") -> Self:
        """Agents a person may delete and share."""
        return self._living(member).filter(owner_id=member.pk, protected=False)

    def publishable(self) -> Self:
        """Living agents whose audience an administrator decides about; bundles are source's."""
        return self.filter(deleted_at__isnull=True, protected=False)

    def coming_from(self, source: str, member: "Member") -> Self:
        """Own agents (`me`), what others share (`shared`) or what is shipped (`included`)."""
        if source == "included":
            return self.filter(protected=True)
        return (
            self.filter(owner_id=member.pk)
            if source == "me"
            else self.filter(protected=False).exclude(owner_id=member.pk)
        )

    def nearest(self, member: "Member", count: int, *order: str) -> Self:
        """Usable rows that can be among the first `count` in this order: what lists ask, so that
        they cost the same however many agents there are.
        """
        return reaching.nearest(self, member.pk, USE, count, order, Q(audience="everyone"))

    def nearest_of(self, member: "Member", named: Any, count: int, *order: str) -> Self:
        """The same for a question that is composed once: `named` stands for the agents shared with
        the person, or is None for people who have more than can be named.
        """
        everybody = Q(audience="everyone")
        return reaching.narrowed(self, member.pk, USE, named, count, order, everybody)

    def matching(self, words: str) -> Self:
        """Whose name or description holds the words, in any case."""
        return self.filter(Q(name__icontains=words) | Q(description__icontains=words))

    def _living(self, member: "Member") -> Self:
        return self.filter(deleted_at__isnull=True) if member.is_active else self.none()


class AgentVersionQuerySet(models.QuerySet[Any]):
    """Versions, reached through an agent whose definition the person may read."""

    def visible_to(self, member: "Member") -> Self:
        """Versions of readable agents: who may only use an agent does not see its persona."""
        agents = apps.get_model("definitions", "Agent").objects.readable_by(member)
        return self.filter(agent__in=agents)

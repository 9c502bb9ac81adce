"""Who may see, use, duplicate or edit an agent. SQL only; superusers are not exempt."""

from typing import TYPE_CHECKING, Any, Final, Self

from django.apps import apps
from django.db import models
from django.db.models import Exists, OuterRef, Q

if TYPE_CHECKING:
    from agents.members.models import Member

# Editing and duplicating include using; neither includes the other.
USE: Final = ("use_agent", "duplicate_agent", "edit_agent")
DUPLICATE: Final = ("duplicate_agent",)
EDIT: Final = ("edit_agent",)
READ: Final = (*DUPLICATE, *EDIT)


class AgentQuerySet(models.QuerySet[Any]):
    """Agents as one person may reach them."""

    def visible_to(self, member: "Member") -> Self:
        """Agents a person may use, search and read; the same set as `usable_by`."""
        return self.usable_by(member)

    def usable_by(self, member: "Member") -> Self:
        """Own agents, those for everyone, and those shared with the person or a group of theirs."""
        return self._living(member).filter(
            Q(owner_id=member.pk) | Q(audience="everyone") | _shared(member, USE)
        )

    def duplicable_by(self, member: "Member") -> Self:
        """Agents whose definition a person may copy: own, bundles, and shares that say so."""
        return self._living(member).filter(
            Q(owner_id=member.pk)
            | Q(audience="everyone", protected=True)
            | _shared(member, DUPLICATE)
        )

    def readable_by(self, member: "Member") -> Self:
        """Agents whose definition and versions a person may read: those they may copy or edit.

        Using an agent is not enough: who can read a persona can copy it.
        """
        return self._living(member).filter(
            Q(owner_id=member.pk) | Q(audience="everyone", protected=True) | _shared(member, READ)
        )

    def editable_by(self, member: "Member") -> Self:
        """Agents a person may append a version to; never a protected one."""
        return self._living(member).filter(
            Q(owner_id=member.pk) | _shared(member, EDIT), protected=False
        )

    def owned_by(self, member: "Member") -> Self:
        """Agents a person may delete and share."""
        return self._living(member).filter(owner_id=member.pk, protected=False)

    def matching(self, words: str) -> Self:
        """Whose name or description holds the words, in any case."""
        return self.filter(Q(name__icontains=words) | Q(description__icontains=words))

    def _living(self, member: "Member") -> Self:
        return self.filter(deleted_at__isnull=True) if member.is_active else self.none()


class AgentVersionQuerySet(models.QuerySet[Any]):
    """Versions, reached through an agent the person may see."""

    def visible_to(self, member: "Member") -> Self:
        """Versions of visible agents."""
        agents = apps.get_model("definitions", "Agent").objects.visible_to(member)
        return self.filter(agent__in=agents)


def _shared(member: "Member", codenames: tuple[str, ...]) -> Q:
    by_person = apps.get_model("definitions", "AgentUserObjectPermission").objects.filter(
        content_object=OuterRef("pk"), user_id=member.pk, permission__codename__in=codenames
    )
    by_group = apps.get_model("definitions", "AgentGroupObjectPermission").objects.filter(
        content_object=OuterRef("pk"),
        group__user=member.pk,
        permission__codename__in=codenames,
    )
    return Q(Exists(by_person)) | Q(Exists(by_group))

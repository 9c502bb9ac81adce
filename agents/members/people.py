"""Finding people and groups, for those who want to share something with them."""

from collections.abc import Iterable
from typing import Final

from django.contrib.auth.models import Group
from django.db.models import Q, QuerySet

from agents.members import roles
from agents.members.models import Member

SHORTEST: Final = 2  # characters of a search; one letter would list everybody
FOUND: Final = 10


def find(member: Member, text: str) -> list[Member]:
    """Active people other than the one who asks whose name holds the text, in any case.

    At most ten, whose names begin with it first. A text of fewer than two characters finds nobody.
    """
    words = text.strip()
    if len(words) < SHORTEST or "\x00" in words:
        return []
    named = Q(display_name__icontains=words) | Q(username__icontains=words)
    found = Member.objects.filter(named, is_active=True).exclude(pk=member.pk)
    begins = Q(display_name__istartswith=words) | Q(username__istartswith=words)
    first = list(found.filter(begins).order_by("username")[:FOUND])
    if len(first) < FOUND:
        rest = found.exclude(pk__in=[person.pk for person in first]).order_by("username")
        first += rest[: FOUND - len(first)]
    return first


def active_among(ids: Iterable[int]) -> set[int]:
    """Those of the ids that are active people."""
    return set(Member.objects.filter(pk__in=list(ids), is_active=True).values_list("pk", flat=True))


def groups_of(member: Member) -> QuerySet[Group]:
    """The groups a person is in, by name; roles aside, which everybody has."""
    return member.groups.exclude(name__in=roles.PERMISSIONS).order_by("name")

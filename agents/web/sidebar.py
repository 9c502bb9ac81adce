"""A person's conversations for the sidebar, in groups by when something last happened."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from operator import itemgetter
from typing import Any, Final, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agents.conversations.models import Conversation, Input
from agents.journal.models import Stream
from agents.journal.prepared import Marks, Prepared
from agents.members.models import Member
from tools.boundary.models import Approval

SHOWN = 100  # entries in the sidebar; older ones are on their own page and in search

PINNED: Final = _("Pinned")
TODAY: Final = _("Today")
YESTERDAY: Final = _("Yesterday")
WEEK: Final = _("Previous 7 days")
OLDER: Final = _("Older")


@dataclass(frozen=True)
class Entry:
    """One conversation as the sidebar shows it."""

    id: str
    title: str
    pinned: bool
    running: bool
    unread: bool


@dataclass
class Group:
    """Entries under one heading, newest first."""

    title: str | Promise
    entries: list[Entry] = field(default_factory=list)


class Listed(NamedTuple):
    """What the sidebar reads of a conversation."""

    id: UUID
    title: str
    pinned_at: datetime | None
    active_at: datetime
    read_position: int
    running: bool
    head: int | None


def _listed(marks: Marks) -> QuerySet[Any, tuple[Any, ...]]:
    streams = Stream.objects.filter(id=OuterRef("pk"))
    listed: QuerySet[Any, tuple[Any, ...]] = (
        Conversation.objects.visible_to(marks.person("member"))
        .kept()
        .exclude(title="")
        .annotate(
            running=Exists(Input.objects.open().filter(conversation=OuterRef("pk"))),
            head=Subquery(streams.values("head")),
        )
        .order_by(F("pinned_at").desc(nulls_last=True), "-active_at")
        .values_list(*Listed._fields)[:SHOWN]
    )
    return listed


LISTED: Final = Prepared(Listed._make, _listed)


WAITING: Final = Prepared(
    itemgetter(0),
    lambda marks: (
        Approval.objects.visible_to(marks.person("member"))
        .pending()
        .order_by()
        .values("member_id")
        .annotate(count=Count("id"))
        .values_list("count")
    ),
)


def waiting(member: Member) -> int:
    """How many calls wait for the person's decision, in all conversations. One query."""
    return sum(WAITING.rows(member=member.pk))


def groups_for(member: Member, zone: ZoneInfo) -> list[Group]:
    """An active person's conversations that are not archived, grouped. One query."""
    today = timezone.now().astimezone(zone).date()
    dated = [
        (
            heading(row.pinned_at, row.active_at.astimezone(zone).date(), today),
            Entry(
                id=str(row.id),
                title=row.title,
                pinned=row.pinned_at is not None,
                running=row.running,
                unread=(row.head or 0) > row.read_position,
            ),
        )
        for row in LISTED.rows(member=member.pk)
    ]
    return in_groups(dated)


def heading(pinned_at: datetime | None, day: date, today: date) -> str | Promise:
    """The heading for a conversation last active on `day`."""
    if pinned_at is not None:
        return PINNED
    if day >= today:
        return TODAY
    if day == today - timedelta(days=1):
        return YESTERDAY
    if day >= today - timedelta(days=7):
        return WEEK
    return OLDER


def in_groups(dated: Iterable[tuple[str | Promise, Entry]]) -> list[Group]:
    """Entries gathered under their headings, in the fixed order, without empty groups."""
    order: Sequence[str | Promise] = (PINNED, TODAY, YESTERDAY, WEEK, OLDER)
    groups = [Group(title) for title in order]
    for title, entry in dated:
        groups[order.index(title)].entries.append(entry)
    return [group for group in groups if group.entries]


def zone_of(request: HttpRequest, member: Member) -> ZoneInfo:
    """The time zone the browser told us, or the person's own."""
    for name in (request.COOKIES.get("tz", ""), member.time_zone):
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return ZoneInfo("UTC")

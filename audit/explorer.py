"""Filters over audit rows: the words of an address in, a queryset out.

The page, the export and the drill-down read the same filters, so that a file holds what was seen.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.dateparse import parse_datetime

from audit.models import AuditEvent
from audit.reasons import Action, Outcome, Reason

ACTOR_KINDS = ("member", "agent", "task", "worker", "system", "bundle", "anonymous")
NOTHING = Q(pk__in=[])
Choices = list[tuple[str, str]]


@dataclass(frozen=True)
class Filter:
    """One filter: its name in the address, its words on the page, its field and its meaning."""

    name: str
    title: str
    field: str  # "choice", "text" or "time"
    condition: Callable[[str], Q]
    choices: Choices


def _worded(codes: type[Action] | type[Outcome] | type[Reason]) -> Choices:
    return [(str(code), code.replace("_", " ")) for code in codes]


def _actor_kind(kind: str) -> Q:
    return Q(actor=kind) if kind == "anonymous" else Q(actor__startswith=f"{kind}:")


def _actor(text: str) -> Q:
    """A whole principal, or the id of a person: what people have at hand."""
    return Q(actor=text) if ":" in text else Q(actor__in=[text, f"member:{text}", f"agent:{text}"])


def _subject(text: str) -> Q:
    kind, _, id_ = text.rpartition(":")
    return Q(subject_kind=kind, subject_id=id_) if kind else Q(subject_id=text)


def _run(text: str) -> Q:
    try:
        return Q(run_id=UUID(text))
    except ValueError:
        return NOTHING


def _time(text: str) -> datetime | None:
    """A moment; without a zone it is meant in UTC, as the page shows it."""
    try:
        moment = parse_datetime(text)
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


def _since(text: str) -> Q:
    moment = _time(text)
    return Q(at__gte=moment) if moment else NOTHING


def _until(text: str) -> Q:
    moment = _time(text)
    return Q(at__lt=moment) if moment else NOTHING


FILTERS = (
    Filter("action", "Action", "choice", lambda code: Q(action=code), _worded(Action)),
    Filter("outcome", "Outcome", "choice", lambda code: Q(outcome=code), _worded(Outcome)),
    Filter("reason", "Reason", "choice", lambda code: Q(reason=code), _worded(Reason)),
    Filter("actor_kind", "Kind of actor", "choice", _actor_kind, [(k, k) for k in ACTOR_KINDS]),
    Filter("actor", "Actor", "text", _actor, []),
    Filter("subject", "Subject", "text", _subject, []),
    Filter("run", "Run", "text", _run, []),
    Filter("since", "From (UTC)", "time", _since, []),
    Filter("until", "Before (UTC)", "time", _until, []),
)


def chosen(query: Mapping[str, Any]) -> dict[str, str]:
    """The filters that an address names, with their values."""
    named = {each.name: str(query.get(each.name, "")).strip() for each in FILTERS}
    return {name: value for name, value in named.items() if value}


def matching(filters: Mapping[str, str]) -> QuerySet[AuditEvent]:
    """The rows that fit every filter; a value that cannot be read fits none."""
    rows = AuditEvent.objects.all()
    for each in FILTERS:
        if each.name in filters:
            rows = rows.filter(each.condition(filters[each.name]))
    return rows


class _AdminFilter(admin.SimpleListFilter):
    """Tells the administration's list about one of `FILTERS`; the page draws them as one form."""

    filter: Filter

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return self.filter.choices or [("", "")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = (self.value() or "").strip()
        return queryset.filter(self.filter.condition(value)) if value else queryset


def admin_filters() -> tuple[type[admin.SimpleListFilter], ...]:
    """`FILTERS` in the form in which the administration takes filters."""
    return tuple(
        type(
            f"{each.name.title()}Filter",
            (_AdminFilter,),
            {"filter": each, "title": each.title.lower(), "parameter_name": each.name},
        )
        for each in FILTERS
    )

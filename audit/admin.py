"""The audit in the administration: to look at, filter and take along, for nobody to change."""

from typing import Any, cast
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString

from audit import anchors, explorer, exports, funnel
from audit.models import Anchor, AuditEvent
from audit.reasons import Action, Outcome
from audit.verification import Place, one_snapshot

RUN_ROWS = 500  # more than a turn within its bounds can cause
SHOWN = 8  # characters of an id in the list; the whole of it is on the row's own page


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]  # takes no parameter at run time
    """No adding, changing or deleting, superusers included; the tables would refuse it anyway."""

    actions: Any = None
    show_full_result_count = False  # counting millions of rows would make the page slow
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnly):
    """The explorer: a list under filters, the rows and facts of one run, and an export."""

    list_display = ("moment", "action", "outcome", "reason", "who", "what", "run")
    list_filter = explorer.admin_filters()

    def get_urls(self) -> list[URLPattern]:
        """The administration's pages, and two of the explorer's own before them."""
        own = [
            path("run/<uuid:run_id>/", self._view(self.of_run), name="audit_auditevent_run"),
            path("export/", self._view(self.export), name="audit_auditevent_export"),
        ]
        return own + super().get_urls()

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list, with the form of its filters and the button of its export."""
        filters = explorer.chosen(request.GET)
        context = {
            "fields": [(each, filters.get(each.name, "")) for each in explorer.FILTERS],
            "chosen": filters,
            "export_query": urlencode(filters),
            "max_rows": exports.MAX_ROWS,
        }
        return super().changelist_view(request, {**context, **(extra_context or {})})

    def of_run(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """All rows of a run in their order, beside what the turn did; nothing anybody wrote."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        rows = AuditEvent.objects.filter(run_id=run_id).order_by("at", "sequence")[:RUN_ROWS]
        context = {
            **self.admin_site.each_context(request),
            "title": "One run",
            "opts": self.opts,
            "run_id": run_id,
            "rows": rows,
            "facts": import_string(settings.RUN_FACTS)(run_id),
        }
        return TemplateResponse(request, "admin/audit/auditevent/run.html", context)

    def export(self, request: HttpRequest) -> HttpResponse:
        """The filtered rows as a file. Taking them along is recorded before they are read."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_view_permission(request):
            raise PermissionDenied
        filters = explorer.chosen(request.GET)
        as_csv = request.POST.get("format") == "csv"
        with one_snapshot("default"):
            heads = anchors.heads()
            found = explorer.matching(filters).order_by("chain", "sequence")
            rows = list(found[: exports.MAX_ROWS + 1])
        if len(rows) > exports.MAX_ROWS:
            text = f"More than {exports.MAX_ROWS:,} rows fit. Narrow the time and export again."
            self.message_user(request, text, messages.ERROR)
            return redirect(
                f"{reverse(f'{self.admin_site.name}:audit_auditevent_changelist')}"
                f"?{urlencode(filters)}"
            )
        self._record(request, rows=len(rows), filters=len(filters), as_csv=as_csv)
        places = tuple(Place(*place) for place in heads.places)
        heading = exports.Heading(heads.at, filters, places)
        body = exports.comma_separated(rows) if as_csv else exports.json_lines(heading, rows)
        name = f"audit-{heads.at:%Y%m%dT%H%M%S}.{'csv' if as_csv else 'jsonl'}"
        return HttpResponse(
            body.encode(),
            content_type="text/csv" if as_csv else "application/jsonl",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )

    def _record(self, request: HttpRequest, *, rows: int, filters: int, as_csv: bool) -> None:
        with transaction.atomic():
            funnel.record(
                action=Action.AUDIT_EXPORTED,
                actor=cast(Any, request.user).principal,
                outcome=Outcome.SUCCESS,
                details={
                    "row_count": rows,
                    "filter_count": filters,
                    "format": "csv" if as_csv else "jsonl",
                },
            )

    def _view(self, view: Any) -> Any:
        return self.admin_site.admin_view(view)

    @admin.display(description="when (UTC)", ordering="at")
    def moment(self, event: AuditEvent) -> str:
        return f"{event.at:%Y-%m-%d %H:%M:%S}"

    @admin.display(description="actor", ordering="actor")
    def who(self, event: AuditEvent) -> SafeString:
        return _short(event.actor)

    @admin.display(description="subject")
    def what(self, event: AuditEvent) -> SafeString:
        kind = event.subject_kind
        return _short(f"{kind}:{event.subject_id}" if kind else "")

    @admin.display(description="run")
    def run(self, event: AuditEvent) -> SafeString:
        if event.run_id is None:
            return _short("")
        address = reverse(f"{self.admin_site.name}:audit_auditevent_run", args=[event.run_id])
        shown = str(event.run_id)[:SHOWN]
        return format_html('<a href="{}" title="{}">{}</a>', address, event.run_id, shown)


@admin.register(Anchor)
class AnchorAdmin(ReadOnly):
    list_display = ("at", "id")
    date_hierarchy = "at"


def _short(name: str) -> SafeString:
    """A principal or subject whose id is cut to what tells rows apart; the whole is its title."""
    kind, colon, id_ = name.partition(":")
    if len(id_) <= SHOWN * 2:
        return format_html("{}", name)
    return format_html('<span title="{}">{}{}{}…</span>', name, kind, colon, id_[:SHOWN])

"""Routes of every door."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from kaizen import faults, health, negotiation

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    path("admin/", admin.site.urls),
    path(
        "api/conversations/<id:conversation_id>/events",
        negotiation.events_of_conversation,
    ),
    path("api/", include("agents.api.urls")),
    path("", include("agents.web.urls")),
]

handler400 = faults.bad_request
handler403 = faults.permission_denied
handler404 = faults.not_found
handler500 = faults.server_error

"""Agents and their versions in the administration: to look at. They change through the studio,
the API and source, where a version is appended and the change is audited.
"""

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from agents.definitions.models import Agent, AgentVersion
from audit.admin import ReadOnly


@admin.register(Agent)
class AgentAdmin(ReadOnly):
    """Who owns which agent, who may use it, and its newest version."""

    list_display = (
        "name",
        "mode",
        "owner_principal",
        "audience",
        "protected",
        "head",
        "deleted_at",
    )
    list_filter = ("mode", "audience", "protected", ("deleted_at", admin.EmptyFieldListFilter))
    search_fields = ("name", "=owner_principal", "=id")
    ordering = ("name", "id")
    fields = (
        "id",
        "name",
        "description",
        "mode",
        "owner_principal",
        "audience",
        "protected",
        "head",
        "created_at",
        "updated_at",
        "deleted_at",
    )


@admin.register(AgentVersion)
class AgentVersionAdmin(ReadOnly):
    """Each version as it was written."""

    list_display = ("agent_name", "number", "author_principal", "digest", "created_at")
    list_filter = (("created_at", admin.DateFieldListFilter),)
    search_fields = ("agent__name", "=agent__id", "=author_principal", "=digest")
    ordering = ("-created_at", "-id")
    fields = ("id", "agent_name", "number", "digest", "author_principal", "created_at", "shown")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("agent")

    @admin.display(description="agent", ordering="agent__name")
    def agent_name(self, version: AgentVersion) -> str:
        """The agent's present name."""
        return version.agent.name

    @admin.display(description="definition")
    def shown(self, version: AgentVersion) -> str:
        """The definition, readable."""
        text = json.dumps(version.content, indent=2, ensure_ascii=False, sort_keys=True)
        return format_html("<pre>{}</pre>", text)

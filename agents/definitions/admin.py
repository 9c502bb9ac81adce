"""Agents and their versions in the administration: to look at. They change through the studio,
the API and source, where a version is appended and the change is audited. Whether everybody may
use an agent, shipped ones included, is decided here.
"""

import json
from collections.abc import Callable
from typing import Any, cast

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from agents.definitions import publication
from agents.definitions.models import Agent, AgentVersion
from agents.members import accounts
from agents.members.models import Member
from audit.admin import ReadOnly


@admin.register(Agent)
class AgentAdmin(ReadOnly):
    """Who owns which agent, who may use it, and its newest version."""

    actions = ("publish", "withdraw")
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

    def has_publish_permission(self, request: HttpRequest) -> bool:
        """Whether the two actions are offered; they ask again themselves."""
        return accounts.is_administrator(cast(Member, request.user))

    @admin.action(description="Open to everyone", permissions=["publish"])
    def publish(self, request: HttpRequest, agents: QuerySet[Any]) -> None:
        """Open the chosen agents to everyone."""
        self._decide(request, agents, publication.publish, "open to everyone")

    @admin.action(description="Leave to owner and direct shares", permissions=["publish"])
    def withdraw(self, request: HttpRequest, agents: QuerySet[Any]) -> None:
        """Take the chosen agents back from everyone."""
        self._decide(request, agents, publication.withdraw, "left to owner and direct shares")

    def _decide(
        self,
        request: HttpRequest,
        agents: QuerySet[Any],
        decide: Callable[..., bool],
        words: str,
    ) -> None:
        chosen = agents.filter(deleted_at__isnull=True).values_list("id", flat=True)
        actor = cast(Member, request.user)
        changed = [decide(actor=actor, agent_id=agent_id) for agent_id in list(chosen)].count(True)
        self.message_user(request, f"{changed} now {words}.", messages.SUCCESS)


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

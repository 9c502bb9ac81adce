"""Turns: what was frozen at admission and how it ended."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from agents.turns.querysets import TurnQuerySet


class Turn(models.Model):
    """One accepted input being worked. `id` is the run id that claim and journal carry.

    `snapshot` is what stays fixed while the turn runs: agent version, deployment, offered tools,
    policies, controller id and version. `terminal` is empty until the one terminal is written.
    """

    id = models.UUIDField(primary_key=True)
    input = models.OneToOneField(
        "conversations.Input", on_delete=models.PROTECT, related_name="turn"
    )
    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.PROTECT, related_name="turns"
    )
    member = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    agent_version = models.ForeignKey(
        "definitions.AgentVersion", on_delete=models.PROTECT, related_name="+"
    )
    deployment_id = models.UUIDField(null=True)
    snapshot = models.JSONField()
    terminal = models.CharField(max_length=32, blank=True, default="")
    reason = models.CharField(max_length=64, blank=True, default="")
    started_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    objects = TurnQuerySet.as_manager()


class WorkerHeartbeat(models.Model):
    """When a turn worker was last seen."""

    owner = models.CharField(max_length=100, primary_key=True)
    seen_at = models.DateTimeField(db_default=Now())

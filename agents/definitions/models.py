"""Agents and their immutable versions."""

from typing import Final

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase

from agents.definitions.querysets import AgentQuerySet, AgentVersionQuerySet

LIVING: Final = models.Q(deleted_at__isnull=True)


class Mode(models.TextChoices):
    """The surface an agent appears on."""

    CHAT = "chat"
    SEARCH = "search"


class Ceiling(models.TextChoices):
    """The highest capability tier an agent's tools may have; each includes the ones before."""

    READ = "read"
    WRITE = "write"
    SENSITIVE = "sensitive"


class Audience(models.TextChoices):
    """Who may use an agent besides its owner and direct shares."""

    PRIVATE = "private"
    EVERYONE = "everyone"


class Agent(models.Model):
    """An agent's identity. What it says and may do lives in its versions; `head` is the newest.

    `owner_principal` is `member:<id>` or `bundle:<slug>`; no signed-in person matches the
    latter. Protected agents change only through source. Deleted agents stay for their history.
    """

    id = models.UUIDField(primary_key=True)
    name = models.CharField(max_length=100)
    description = models.CharField(max_length=500, blank=True, default="")
    mode = models.CharField(max_length=8, choices=Mode.choices, default=Mode.CHAT)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    owner_principal = models.CharField(max_length=100)
    protected = models.BooleanField(default=False)
    audience = models.CharField(max_length=10, choices=Audience.choices, default=Audience.PRIVATE)
    head = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = AgentQuerySet.as_manager()

    class Meta:
        permissions = [
            ("use_agent", "Can use the agent"),
            ("duplicate_agent", "Can duplicate the agent"),
            ("edit_agent", "Can edit the agent"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["owner_principal", "name"],
                name="one_live_agent_per_owner_and_name",
                condition=models.Q(deleted_at__isnull=True),
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "-updated_at"], name="agents_of_owner"),
            # lists, for each way in which a person reaches an agent: the last changed first
            models.Index(fields=["-updated_at"], name="agents_by_change", condition=LIVING),
            models.Index(
                fields=["audience", "-updated_at"], name="agents_of_audience", condition=LIVING
            ),
            # pickers: the shipped ones first, then by name
            models.Index(fields=["-protected", "name"], name="agents_by_name", condition=LIVING),
            models.Index(
                fields=["owner", "-protected", "name"],
                name="agents_of_owner_by_name",
                condition=LIVING,
            ),
            models.Index(
                fields=["audience", "-protected", "name"],
                name="agents_of_audience_by_name",
                condition=LIVING,
            ),
        ]


class AgentVersion(models.Model):
    """One immutable version of an agent; the database refuses change and removal."""

    id = models.UUIDField(primary_key=True)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    content = models.JSONField()
    digest = models.CharField(max_length=71)
    author_principal = models.CharField(max_length=100)
    created_at = models.DateTimeField(db_default=Now())

    objects = AgentVersionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "number"], name="one_version_per_number"),
        ]


class AgentUserObjectPermission(UserObjectPermissionBase):
    """A direct share of an agent with one person."""

    content_object = models.ForeignKey(Agent, on_delete=models.CASCADE)

    class Meta(UserObjectPermissionBase.Meta):
        # whether this agent is shared with this person, whatever the right
        indexes = [models.Index(fields=["content_object", "user"], name="agent_shares_of_one")]


class AgentGroupObjectPermission(GroupObjectPermissionBase):
    """A direct share of an agent with a group."""

    content_object = models.ForeignKey(Agent, on_delete=models.CASCADE)

    class Meta(GroupObjectPermissionBase.Meta):
        indexes = [models.Index(fields=["content_object", "group"], name="agent_shares_of_many")]

"""People. The custom user from the first migration on."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Now

from agents.members.querysets import AccessTokenQuerySet


class Theme(models.TextChoices):
    """How pages look; `system` follows the browser."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class DuringRun(models.TextChoices):
    """What Enter does with a message while an answer is under way."""

    STEER = "steer"
    QUEUE = "queue"


class Effort(models.TextChoices):
    """How long a model shall think, where it can be told."""

    MINIMAL = "minimal", "as little as possible"
    LOW = "low", "little"
    MEDIUM = "medium", "as usual"
    HIGH = "high", "much"


class Member(AbstractUser):
    """A person who can sign in. Roles are groups (see `roles`), never flags of their own.

    `is_staff` opens Django admin and is derived from the administrator role; `is_superuser` is
    for break-glass accounts made by `createsuperuser` and widens nothing outside admin.
    """

    display_name = models.CharField(max_length=80, blank=True, default="")
    time_zone = models.CharField(max_length=64, default="UTC")
    theme = models.CharField(max_length=8, choices=Theme.choices, default=Theme.SYSTEM)
    shortcuts_enabled = models.BooleanField(default=True)
    plain_speak = models.BooleanField(default=False, help_text="Agents answer in plain words.")
    compress_tool_results = models.BooleanField(
        default=False, help_text="Agents read long results of tools shortened."
    )
    default_during_run = models.CharField(
        max_length=8, choices=DuringRun.choices, default=DuringRun.STEER
    )
    effort = models.CharField(
        max_length=8,
        choices=Effort.choices,
        blank=True,
        default="",
        help_text="How long models think; empty where the agent or the model decides.",
    )

    class Meta(AbstractUser.Meta):
        verbose_name = "person"
        verbose_name_plural = "people"

    def name_shown(self) -> str:
        """The display name, or the sign-in name while none is set."""
        return self.display_name or self.username

    @property
    def principal(self) -> str:
        """How audit rows and owners name this person."""
        return f"member:{self.pk}"


class TokenScope(models.TextChoices):
    """What a token may do: each scope includes the ones before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


class AccessToken(models.Model):
    """A personal access token. Only its SHA-256 digest is stored; the token is shown once."""

    id = models.UUIDField(primary_key=True)
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="access_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=8, choices=TokenScope.choices)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = AccessTokenQuerySet.as_manager()


class SignInFailure(models.Model):
    """Failed sign-ins of one key (name and address) in its current window."""

    key = models.CharField(max_length=64, primary_key=True)
    count = models.PositiveIntegerField(default=0)
    window_started_at = models.DateTimeField(db_default=Now())

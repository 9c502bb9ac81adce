"""The lease of each run. One row a run, from acceptance to its terminal and kept after it."""

from django.db import models
from django.db.models.functions import Now


class RunState(models.TextChoices):
    """queued -> running -> (waiting -> queued)* -> settled; running -> queued on release."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    SETTLED = "settled"


class RunClaim(models.Model):
    """One run's claim.

    A run is worked by the owner that holds the current fence; every write of a run proves that
    fence. Runs of one lane (a conversation) are worked one after another by `ordinal`. No
    foreign keys: this layer knows neither conversations nor turns.
    """

    run_id = models.UUIDField(primary_key=True)
    queue = models.CharField(max_length=32)
    lane = models.UUIDField()
    ordinal = models.BigIntegerField()
    state = models.CharField(max_length=16, choices=RunState.choices, default=RunState.QUEUED)
    fence = models.BigIntegerField(default=0)
    owner = models.CharField(max_length=100, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)
    stop_requested_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    settled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["lane", "ordinal"], name="one_run_per_lane_ordinal"),
        ]
        indexes = [
            # the claim query: open runs of a queue, oldest first
            models.Index(
                fields=["queue", "created_at"],
                name="open_runs",
                condition=models.Q(state__in=["queued", "running"]),
            ),
            # the lane rule: is an earlier run of this lane still open?
            models.Index(
                fields=["lane", "ordinal"],
                name="open_runs_of_lane",
                condition=models.Q(settled_at__isnull=True),
            ),
        ]


class Reservation(models.Model):
    """The intent of one write effect: it began, whatever became of it."""

    run_id = models.UUIDField()
    call_id = models.CharField(max_length=100)
    fence = models.BigIntegerField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run_id", "call_id"], name="one_intent_per_call"),
        ]

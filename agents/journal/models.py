"""The journal's two tables."""

from typing import Any

from django.db import models
from django.db.models.functions import Now

from agents.journal.frames import TERMINALS, Kind


class Stream(models.Model):
    """One conversation's journal. `head` is the newest position, moved under this row's lock."""

    id = models.UUIDField(primary_key=True)
    head = models.BigIntegerField(default=0)


class Entry(models.Model):
    """One thing that happened, never changed and never deleted.

    Positions of a stream run 1, 2, 3 … without gaps in commit order; an identity column would
    not (a reader could pass a number whose transaction commits later). `data` is what people
    see; `private` is what the next worker needs to rebuild a turn and never leaves the server.
    """

    stream = models.ForeignKey(Stream, on_delete=models.PROTECT, related_name="entries")
    position = models.BigIntegerField()
    run_id = models.UUIDField(null=True)
    input_id = models.UUIDField(null=True)
    kind = models.CharField(max_length=32, choices=Kind.choices)
    data = models.JSONField()
    private = models.JSONField(null=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stream", "position"], name="one_entry_per_position"),
            models.UniqueConstraint(
                fields=["run_id"],
                name="one_terminal_per_run",
                condition=models.Q(kind__in=[str(kind) for kind in TERMINALS]),
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=Kind.values), name="entry_kind_is_known"
            ),
        ]
        indexes = [
            # rebuilding one run
            models.Index(fields=["run_id", "position"], name="entries_of_run"),
        ]

    @property
    def hidden(self) -> dict[str, Any]:
        """The private part, empty where there is none."""
        return self.private or {}

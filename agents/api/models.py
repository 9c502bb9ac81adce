"""Answers kept for their idempotency keys."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class KeptAnswer(models.Model):
    """The answer to one creating call, kept under its key for a day.

    The row is written in the transaction of the effect: a key that exists has had its effect,
    and a call that failed has left no key. `route` is method and path, ids included.
    """

    member = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    route = models.CharField(max_length=200)
    key = models.CharField(max_length=200)
    body_digest = models.CharField(max_length=71)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.BinaryField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["member", "route", "key"], name="one_kept_answer_per_key"
            ),
        ]
        indexes = [
            # what the daily sweep forgets
            models.Index(fields=["created_at"], name="kept_answers_by_age"),
        ]

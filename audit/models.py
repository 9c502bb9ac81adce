"""The rows of the audit: events in hash chains, the heads of the chains, and anchors of the heads.

No foreign key leaves or enters these tables: ids are copied as plain values, because a cascade
runs as the owner of the table and would pass by the runtime role's missing privileges. The only
writer is `audit.funnel`.
"""

from django.db import models

from audit.chains import CHAINS


class AuditEvent(models.Model):
    """One thing that happened: who did what to what, and how it came out. Never changed, never
    removed.

    Holds ids, digests, counts and codes only; prompts, answers, names, credentials and provider
    texts stay out. The id follows from the place in the chain (`sequence * 16 + chain`), so rows
    cannot swap places.
    """

    id = models.BigIntegerField(primary_key=True)
    chain = models.PositiveSmallIntegerField()
    sequence = models.BigIntegerField(help_text="1 for the first row of the chain, without gaps.")
    at = models.DateTimeField(help_text="Database clock when the row was written.")
    action = models.CharField(max_length=40)
    actor = models.CharField(max_length=80, help_text="member:<id>, agent:<id>, system:<name>, …")
    outcome = models.CharField(max_length=24)
    reason = models.CharField(max_length=48, blank=True)
    subject_kind = models.CharField(max_length=40, blank=True)
    subject_id = models.CharField(max_length=80, blank=True)
    run_id = models.UUIDField(null=True)
    details = models.JSONField(default=dict)
    previous_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64, help_text="SHA-256 of the previous hash and this row.")

    class Meta:
        db_table = "audit_event"
        default_permissions = ("view",)
        ordering = ("-at", "-id")
        indexes = [
            # The admin's list, newest first, alone and by each filter.
            models.Index(fields=["-at", "-id"], name="audit_event_at"),
            models.Index(fields=["action", "-at"], name="audit_event_action"),
            models.Index(fields=["actor", "-at"], name="audit_event_actor"),
            # What happened to this object, and in this run?
            models.Index(fields=["subject_kind", "subject_id", "-at"], name="audit_event_subject"),
            models.Index(
                fields=["run_id"], name="audit_event_run", condition=models.Q(run_id__isnull=False)
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["chain", "sequence"], name="audit_event_place"),
            models.CheckConstraint(
                condition=models.Q(chain__lt=CHAINS, sequence__gte=1), name="audit_event_range"
            ),
            models.CheckConstraint(
                condition=models.Q(id=models.F("sequence") * CHAINS + models.F("chain")),
                name="audit_event_id",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} #{self.id}"


class ChainHead(models.Model):
    """The last place and hash of one chain; its row lock orders the writers of the chain."""

    chain = models.PositiveSmallIntegerField(primary_key=True)
    sequence = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64)

    class Meta:
        db_table = "audit_chain_head"
        default_permissions = ()


class Anchor(models.Model):
    """All heads at one moment. The same line goes to a log outside the database, which is what
    counts.

    `heads` is a list of `[sequence, hash]`, one a chain, in order of the chains.
    """

    at = models.DateTimeField()
    heads = models.JSONField()

    class Meta:
        db_table = "audit_anchor"
        default_permissions = ("view",)
        ordering = ("-at", "-id")

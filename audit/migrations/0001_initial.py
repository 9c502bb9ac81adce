"""Events in hash chains, the heads of the chains, anchors; none of them can be rewritten."""

import django.db.models.expressions
from django.db import migrations, models

from audit.append_only import RefuseChange
from audit.chains import CHAINS, first_hash


def create_heads(apps, schema_editor):
    """Every chain starts empty and is never added to at run time."""
    heads = apps.get_model("audit", "ChainHead").objects.using(schema_editor.connection.alias)
    heads.bulk_create(
        heads.model(chain=chain, sequence=0, hash=first_hash(chain)) for chain in range(CHAINS)
    )


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Anchor",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                ("heads", models.JSONField()),
            ],
            options={
                "db_table": "audit_anchor",
                "ordering": ("-at", "-id"),
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="ChainHead",
            fields=[
                ("chain", models.PositiveSmallIntegerField(primary_key=True, serialize=False)),
                ("sequence", models.BigIntegerField(default=0)),
                ("hash", models.CharField(max_length=64)),
            ],
            options={
                "db_table": "audit_chain_head",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("chain", models.PositiveSmallIntegerField()),
                (
                    "sequence",
                    models.BigIntegerField(
                        help_text="1 for the first row of the chain, without gaps."
                    ),
                ),
                ("at", models.DateTimeField(help_text="Database clock when the row was written.")),
                ("action", models.CharField(max_length=40)),
                (
                    "actor",
                    models.CharField(
                        help_text="member:<id>, agent:<id>, system:<name>, …", max_length=80
                    ),
                ),
                ("outcome", models.CharField(max_length=24)),
                ("reason", models.CharField(blank=True, max_length=48)),
                ("subject_kind", models.CharField(blank=True, max_length=40)),
                ("subject_id", models.CharField(blank=True, max_length=80)),
                ("run_id", models.UUIDField(null=True)),
                ("details", models.JSONField(default=dict)),
                ("previous_hash", models.CharField(max_length=64)),
                (
                    "hash",
                    models.CharField(
                        help_text="SHA-256 of the previous hash and this row.", max_length=64
                    ),
                ),
            ],
            options={
                "db_table": "audit_event",
                "ordering": ("-at", "-id"),
                "default_permissions": ("view",),
                "indexes": [
                    models.Index(fields=["-at", "-id"], name="audit_event_at"),
                    models.Index(fields=["action", "-at"], name="audit_event_action"),
                    models.Index(fields=["actor", "-at"], name="audit_event_actor"),
                    models.Index(
                        fields=["subject_kind", "subject_id", "-at"], name="audit_event_subject"
                    ),
                    models.Index(
                        condition=models.Q(("run_id__isnull", False)),
                        fields=["run_id"],
                        name="audit_event_run",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("chain", "sequence"), name="audit_event_place"),
                    models.CheckConstraint(
                        condition=models.Q(("chain__lt", 16), ("sequence__gte", 1)),
                        name="audit_event_range",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "id",
                                django.db.models.expressions.CombinedExpression(
                                    django.db.models.expressions.CombinedExpression(
                                        models.F("sequence"), "*", models.Value(16)
                                    ),
                                    "+",
                                    models.F("chain"),
                                ),
                            )
                        ),
                        name="audit_event_id",
                    ),
                ],
            },
        ),
        migrations.RunPython(create_heads, migrations.RunPython.noop),
        RefuseChange("audit_event"),
        RefuseChange("audit_anchor"),
    ]

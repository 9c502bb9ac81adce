"""Registers the audit app under its label and attaches the grants to the end of every migration
run.
"""

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from audit import grants


class AuditConfig(AppConfig):
    name = "audit"
    label = "audit"
    verbose_name = "Audit"

    def ready(self) -> None:
        post_migrate.connect(grants.after_migrate, sender=self, dispatch_uid="audit.grants")

"""`manage.py reconcile_bundles`: bring the shipped agents to what source says; safe to repeat."""

from typing import Any

from django.core.management.base import BaseCommand

from agents.definitions import bundling


class Command(BaseCommand):
    help = "Create or update the agents that ship with Kaizen."

    def handle(self, *args: Any, **options: Any) -> None:
        for bundle in bundling.shipped():
            changed = bundling.reconcile(bundle)
            self.stdout.write(f"{bundle.slug}: {'updated' if changed else 'unchanged'}")

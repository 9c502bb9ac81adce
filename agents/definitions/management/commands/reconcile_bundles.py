"""`manage.py reconcile_bundles`: bring the shipped agents to what source says; safe to repeat."""

from typing import Any

from django.core.management.base import BaseCommand

from agents.definitions import bundling


class Command(BaseCommand):
    help = "Create, update or retire the agents that ship with Kaizen."

    def handle(self, *args: Any, **options: Any) -> None:
        for slug, outcome in bundling.reconcile_all(bundling.shipped()).items():
            self.stdout.write(f"{slug}: {outcome}")

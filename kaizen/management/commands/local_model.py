"""`manage.py local_model SOCKET`: see kaizen.local_model."""

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Serve the local trial model, or the file in KAIZEN_LOCAL_MODEL, on a Unix socket."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("socket")

    def handle(self, *args: Any, **options: Any) -> None:
        # The model's process needs none of Django's memory.
        words = [sys.executable, "-m", "kaizen.local_model", options["socket"]]
        os.execv(sys.executable, words)

"""`manage.py up`: run everything on this machine until Ctrl-C."""

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Run Kaizen on this machine: services, web, turn worker, jobs and a local model."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        # The supervisor takes this process's place, so that Django's memory is not kept for it.
        os.execv(sys.executable, [sys.executable, "-m", "kaizen.supervision"])

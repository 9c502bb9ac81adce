"""`manage.py doctor`: see kaizen.doctor."""

from typing import Any

from django.core.management.base import BaseCommand

from kaizen import doctor


class Command(BaseCommand):
    help = "Say what is missing on this machine, in words that help."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        raise SystemExit(doctor.main())

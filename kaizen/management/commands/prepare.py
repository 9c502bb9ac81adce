"""`manage.py prepare`: migrate and bring in what ships; what every start does first."""

import json
import os
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from agents.members import demo
from audit.refusals import Refusal
from kaizen import environment
from kaizen.embedded.failures import StartRefused
from kaizen.preparing import prepare


class Command(BaseCommand):
    help = "Migrate the database, reconcile the shipped agents and the default model."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--demo-people", action="store_true", help="make the demo people")
        parser.add_argument(
            "--report-fd",
            type=int,
            help="descriptor for a JSON report with sign-in data, so that it reaches no log",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        report: dict[str, Any] = {}
        try:
            prepare(say=self.stdout.write)
            if options["demo_people"]:
                report["people"] = _demo_people()
        except StartRefused as refusal:
            report["refusal"] = {"what": refusal.what, "remedy": refusal.remedy}
            if options["report_fd"] is None:
                raise CommandError(str(refusal)) from refusal
            raise SystemExit(1) from refusal
        finally:
            if options["report_fd"] is not None:
                os.write(options["report_fd"], json.dumps(report).encode())


def _demo_people() -> list[dict[str, str | None]]:
    if not settings.LOCAL:
        raise StartRefused(
            "Demo people exist in the local profile only.", "Unset KAIZEN_PROFILE to use it."
        )
    password = environment.text("KAIZEN_DEMO_PASSWORD", "") or None
    try:
        return [asdict(person) for person in demo.create(password)]
    except Refusal as refusal:
        raise StartRefused(
            f"KAIZEN_DEMO_PASSWORD cannot be used: {refusal}", "Choose another one."
        ) from refusal

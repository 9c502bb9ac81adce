"""`manage.py verify_audit`: say whether the audit is whole; the exit code is 1 when it is not."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit import anchors
from audit.verification import MAX_FINDINGS, verify


class Command(BaseCommand):
    help = "Check every audit row against its hash chain and against anchors taken earlier."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--anchor",
            type=Path,
            metavar="FILE",
            help="anchors kept outside the database, one JSON line each",
        )

    def handle(self, *args: Any, anchor: Path | None, **options: Any) -> None:
        try:
            report = verify(outside=anchors.read(anchor) if anchor else ())
        except OSError as error:
            raise CommandError(f"The anchor file cannot be read: {error.strerror}.") from None
        except anchors.BadAnchorFile as error:
            raise CommandError(f"{error}.") from None
        for finding in report.findings:
            where = f"chain {finding.chain}, row {finding.sequence}"
            self.stderr.write(f"{finding.fault}: {where}")
        checked = f"{report.rows} rows, {report.anchors} anchors"
        if not report.whole:
            more = " or more" if len(report.findings) == MAX_FINDINGS else ""
            raise CommandError(
                f"The audit is NOT whole: {len(report.findings)}{more} faults in {checked}."
            )
        self.stdout.write(f"The audit is whole: {checked}.")

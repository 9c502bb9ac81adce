"""`manage.py verify_audit`: say whether the audit, or a file taken from it, is whole; the exit
code is 1 when it is not.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit import anchors, exports
from audit.verification import MAX_FINDINGS, NO_CHAIN, verify

FILTERED = (
    "The file was filtered: its rows are as they were written, but it cannot show that no other"
    " rows would have fitted."
)
ALONE = (
    "Nothing was compared with the database: whoever rewrote a row and all that follow it in the"
    " file would not be found."
)


class Command(BaseCommand):
    help = "Check every audit row against its hash chain and against anchors taken earlier."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--anchor",
            type=Path,
            metavar="FILE",
            help="anchors kept outside the database, one JSON line each",
        )
        parser.add_argument(
            "--export",
            type=Path,
            metavar="FILE",
            help="check this export (JSON Lines or CSV) instead of the whole audit",
        )
        parser.add_argument(
            "--alone",
            action="store_true",
            help="check the export by itself, without the database it came from",
        )

    def handle(
        self, *args: Any, anchor: Path | None, export: Path | None, alone: bool, **options: Any
    ) -> None:
        if export is not None:
            self._check_export(export, alone=alone)
            return
        try:
            report = verify(outside=anchors.read(anchor) if anchor else ())
        except OSError as error:
            raise CommandError(f"The anchor file cannot be read: {error.strerror}.") from None
        except anchors.BadAnchorFile as error:
            raise CommandError(f"{error}.") from None
        for finding in report.findings:
            self.stderr.write(f"{finding.fault}: {_place(finding.chain, finding.sequence)}")
        checked = f"{report.rows} rows, {report.anchors} anchors"
        if not report.whole:
            more = " or more" if len(report.findings) == MAX_FINDINGS else ""
            first = report.findings[0]
            raise CommandError(
                f"The audit is NOT whole: {len(report.findings)}{more} faults in {checked}. The"
                f" first broken row is {_place(first.chain, first.sequence)} ({first.fault})."
            )
        self.stdout.write(f"The audit is whole: {checked}.")

    def _check_export(self, path: Path, *, alone: bool) -> None:
        try:
            checked = exports.check(path, compare=not alone)
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"The export cannot be read: {error}.") from None
        except exports.BadExport as error:
            raise CommandError(str(error)) from None
        for broken in checked.broken[:MAX_FINDINGS]:
            self.stderr.write(_told(broken))
        counted = f"{checked.rows} rows, {checked.linked} tied to the row before them"
        if checked.broken:
            raise CommandError(
                f"The export is NOT as it was written: {len(checked.broken)} faults in {counted}."
                f" The first is {_told(checked.broken[0])}."
            )
        self.stdout.write(f"The export is as it was written: {counted}.")
        if not checked.whole:
            self.stdout.write(FILTERED)
        if alone:
            self.stdout.write(ALONE)


def _told(broken: exports.Broken) -> str:
    line = f"line {broken.line}" if broken.line else "the file"
    return f"{line}: {broken.fault}, {_place(broken.chain, broken.sequence)}"


def _place(chain: int, sequence: int) -> str:
    return "in no chain" if chain == NO_CHAIN else f"chain {chain}, row {sequence}"

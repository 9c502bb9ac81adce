"""`manage.py anchor_audit`: take an anchor now and print it, for keeping outside the database."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit import anchors


class Command(BaseCommand):
    help = "Write the heads of the audit chains to the anchor log and print them as one line."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            heads = anchors.take()
        except OSError as error:
            raise CommandError(f"The anchor file cannot be written: {error.strerror}.") from None
        if heads is None:
            self.stderr.write("Nothing was recorded since the last anchor.")
            return
        self.stdout.write(anchors.to_line(heads))

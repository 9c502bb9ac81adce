"""`manage.py build_about_index`: package the guide for search_about."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from tools.builtin import about_index


class Command(BaseCommand):
    help = "Cut the pages of docs/guide into the excerpts that agents answer questions from."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        text = about_index.make(settings.BASE_DIR / "docs" / "guide")
        about_index.PACKAGED.write_text(text)
        self.stdout.write(f"Wrote {about_index.PACKAGED.name}.")

"""`manage.py token alice --scope write --days 30`: print a new personal access token."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.members import tokens
from agents.members.models import Member, TokenScope
from audit.refusals import Refusal


class Command(BaseCommand):
    """Prints the token alone, so that a script can take it; it is not shown again."""

    help = "Create a personal access token for a person and print it once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", help="sign-in name of the person")
        parser.add_argument(
            "--scope",
            choices=TokenScope.values,
            default=TokenScope.WRITE.value,
            help="how far the token reaches (default: write)",
        )
        parser.add_argument(
            "--days",
            type=int,
            default=30,
            help=f"days until it ends, 1 to {tokens.MAX_DAYS} (default: 30)",
        )
        parser.add_argument("--name", default="command line", help="what the person will see")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["days"] <= tokens.MAX_DAYS:
            raise CommandError(f"--days must be between 1 and {tokens.MAX_DAYS}.")
        member = Member.objects.filter(username=options["username"], is_active=True).first()
        if member is None:
            raise CommandError("There is no such person, or the account is switched off.")
        try:
            _, text = tokens.create(
                actor=member,
                name=options["name"][:100],
                scope=TokenScope(options["scope"]),
                days=options["days"],
            )
        except Refusal as refusal:
            raise CommandError(refusal.message) from None
        self.stdout.write(text)

"""`manage.py scripted_model`: a model server that answers by script, for tests and measurements."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import uvloop
from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.gateway.providers import script, scripted


class Command(BaseCommand):
    help = (
        "Serve the OpenAI streaming protocol with scripted answers. "
        "The language is described in agents/gateway/providers/script.py."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, required=True)
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--fixture", type=Path, help="JSON file with answers by message")
        parser.add_argument("--key", default="", help="bearer token every request must bring")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            app = scripted.application(fixture=options["fixture"], key=options["key"])
        except (OSError, script.ScriptError) as error:
            raise CommandError(str(error)) from None
        uvloop.run(self._serve(app, options["host"], options["port"]))

    async def _serve(self, app: Any, host: str, port: int) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        try:
            runner = await scripted.serve(app, host=host, port=port)
        except OSError as error:
            raise CommandError(f"cannot listen on {host}:{port}: {error.strerror}") from None
        self.stdout.write(f"scripted model on http://{host}:{port}/v1")
        self.stdout.flush()
        await stop.wait()
        await runner.cleanup()

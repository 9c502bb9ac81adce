"""`manage.py turns`: the turn worker process."""

import asyncio
from typing import Any

import uvloop
from django.conf import settings
from django.core.management.base import BaseCommand

from agents.turns.worker import Worker


class Command(BaseCommand):
    help = "Work accepted inputs until stopped."

    def handle(self, *args: Any, **options: Any) -> None:
        worker_settings = settings.TURN_WORKER
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(
                run(capacity=worker_settings["capacity"], lease_s=worker_settings["lease_s"])
            )


async def run(*, capacity: int, lease_s: float) -> None:
    """Make the worker on the loop that runs it."""
    await Worker(capacity=capacity, lease_s=lease_s).run()

"""`manage.py turns`: the turn worker process."""

import asyncio
import gc
import sys
from typing import Any

import uvloop
from django.conf import settings
from django.core.management.base import BaseCommand

from agents.turns.worker import Worker

# Database threads would otherwise keep the event loop waiting 5 ms each time they are busy.
THREAD_SWITCH_S = 0.0005


class Command(BaseCommand):
    help = "Work accepted inputs until stopped."

    def handle(self, *args: Any, **options: Any) -> None:
        sys.setswitchinterval(THREAD_SWITCH_S)
        # What start-up made stays; looking through it for garbage again and again stops every turn.
        gc.collect()
        gc.freeze()
        worker_settings = settings.TURN_WORKER
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(
                run(capacity=worker_settings["capacity"], lease_s=worker_settings["lease_s"])
            )


async def run(*, capacity: int, lease_s: float) -> None:
    """Make the worker on the loop that runs it."""
    await Worker(capacity=capacity, lease_s=lease_s).run()

"""`manage.py jobs`: Celery worker and beat in one small process, for one machine.

Several machines run `celery -A kaizen worker` and one `celery -A kaizen beat` instead; there the
pool of processes also enforces time limits, which threads cannot.
"""

import socket
import warnings
from argparse import ArgumentParser
from typing import Any

from celery.apps.worker import Worker  # type: ignore[import-untyped]  # ships no types
from celery.beat import EmbeddedService  # type: ignore[import-untyped]  # ships no types
from celery.exceptions import SecurityWarning  # type: ignore[import-untyped]  # no types
from django.core.management.base import BaseCommand

from kaizen.celery import QUEUES, app

THREADS = 4


class Command(BaseCommand):
    help = "Work off tasks, validation and maintenance, and send the ticks."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--threads", type=int, default=THREADS)

    def handle(self, *args: Any, **options: Any) -> None:
        # Only JSON is accepted, so a message cannot become code; running as root is the choice of
        # whoever started the local profile as root.
        warnings.filterwarnings("ignore", category=SecurityWarning)
        beat = EmbeddedService(app, thread=True, scheduler_cls=app.conf.beat_scheduler)
        worker: Worker = app.Worker(
            pool="threads",
            concurrency=options["threads"],
            queues=",".join(QUEUES),
            hostname=f"jobs@{socket.gethostname()}",
            loglevel="WARNING",
            quiet=True,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )
        beat.start()
        worker.start()
        raise SystemExit(worker.exitcode)

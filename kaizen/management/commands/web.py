"""`manage.py web`: one web process; serves pages, REST, live streams and the admin."""

import socket
from argparse import ArgumentParser
from typing import Any

import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand

SOCKET_MESSAGE_BYTES = 65_536
STOP_GRACE_S = 5  # live streams are told to come back at once, so nothing needs longer


class Command(BaseCommand):
    help = "Serve HTTP and WebSocket on KAIZEN_BIND and PORT."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--fd", type=int, help="a listening socket that was opened before")

    def handle(self, *args: Any, **options: Any) -> None:
        server = uvicorn.Server(
            uvicorn.Config(
                "kaizen.asgi:application",
                host=settings.BIND,
                port=settings.PORT,
                log_config=None,  # Django's, with its redaction
                access_log=False,
                server_header=False,
                # A client could write any address and scheme into these headers.
                proxy_headers=False,
                loop="uvloop",
                http="httptools",
                ws_max_size=SOCKET_MESSAGE_BYTES,
                # Compressing each small frame costs more than it saves, and memory per socket.
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=STOP_GRACE_S,
                lifespan="on",
            )
        )
        given = options["fd"]
        server.run(sockets=None if given is None else [socket.socket(fileno=given)])

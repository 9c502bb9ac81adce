"""People who watch conversations through everything, and what they must never see."""

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from uuid import UUID

import aiohttp
import orjson
from django.db import connections

from tests.stack import ROOT, free_port, url_of, wait_for

RECONNECT_S = 0.2


@dataclass
class Watcher:
    """A client that keeps its position and comes back with it, to whichever process is there."""

    conversation_id: UUID
    token: str
    ports: list[int]
    chance: random.Random
    forgetful: bool = False  # comes back from the start: the control that must be noticed
    seen: list[int] = field(default_factory=list)
    connections: int = 0

    async def watch(self, until_position: int) -> None:
        """Until that position has been seen."""
        async with aiohttp.ClientSession() as session:
            while not self.seen or self.seen[-1] < until_position:
                after = 0 if self.forgetful or not self.seen else self.seen[-1]
                address = (
                    f"http://127.0.0.1:{self.chance.choice(self.ports)}"
                    f"/ws/conversations/{self.conversation_id}?after={after}"
                )
                with suppress(aiohttp.ClientError, OSError, TimeoutError):
                    async with session.ws_connect(
                        address, protocols=["kaizen.v1", f"bearer.{self.token}"]
                    ) as socket:
                        self.connections += 1
                        await self._read(socket, until_position)
                await asyncio.sleep(RECONNECT_S * self.chance.random())

    async def _read(self, socket: aiohttp.ClientWebSocketResponse, until_position: int) -> None:
        patience_s = self.chance.choice([0.05, 0.5, 2.0, 10.0])
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                async for message in socket:
                    position = orjson.loads(message.data).get("position")
                    if position is not None:
                        self.seen.append(position)
                        if position >= until_position:
                            return

    def faults(self) -> list[str]:
        """Gaps, repeats and disorder in what was seen."""
        expected = list(range(1, self.seen[-1] + 1)) if self.seen else []
        return [] if self.seen == expected else [f"{self.conversation_id} saw {self.seen}"]


@contextmanager
def web_process(redis_url: str, environment: dict[str, str]) -> Iterator["Web"]:
    """A web process that can be killed and comes back on the same port."""
    web = Web(redis_url, environment, free_port())
    web.start()
    try:
        yield web
    finally:
        web.process.kill()
        web.process.wait()


class Web:
    """See `web_process`."""

    def __init__(self, redis_url: str, environment: dict[str, str], port: int) -> None:
        self.port = port
        self._environment = {
            **environment,
            "DATABASE_URL": url_of(connections["default"].settings_dict),
            "REDIS_URL": redis_url,
            "PORT": str(port),
            "KAIZEN_LOG_LEVEL": "ERROR",
        }
        self.process: subprocess.Popen[bytes]

    def start(self) -> None:
        """Start and wait until it answers."""
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "web"], cwd=ROOT, env=self._environment
        )
        wait_for(f"http://127.0.0.1:{self.port}/healthz", self.process)

    def restart(self) -> None:
        """SIGKILL, then a new process."""
        self.process.kill()
        self.process.wait()
        self.start()


def environment() -> dict[str, str]:
    """What processes of the suite start from."""
    return dict(os.environ)

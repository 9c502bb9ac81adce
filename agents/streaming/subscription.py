"""The process's one Redis subscription to live traffic. It may lose anything at any time."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

import orjson
import redis.asyncio as redis
from django.conf import settings

from agents.journal.publication import ASK_CHANNEL, SHARDS

READ_S: Final = 5.0  # a quiet connection is asked for a sign of life this often
SILENCE_S: Final = 15.0  # without any sign for this long it is given up
COMMAND_TIMEOUT_S: Final = 2.0
COMMAND_CONNECTIONS: Final = 2
FIRST_PAUSE_S: Final = 0.2  # before a new attempt, doubled up to the longest
LONGEST_PAUSE_S: Final = 5.0

log = logging.getLogger(__name__)


class Subscription:
    """Reads every shard and hands payloads over; connects again with growing pauses.

    `on_payload` gets the bytes of each message, `on_ready` is called after each (re)connection.
    """

    def __init__(
        self, *, on_payload: Callable[[bytes], None], on_ready: Callable[[], None]
    ) -> None:
        self._on_payload = on_payload
        self._on_ready = on_ready
        self._task: asyncio.Task[None] | None = None
        self._commands: redis.Redis | None = None
        self.ready = False

    def open(self) -> None:
        """Start reading unless that is going on."""
        if self._task is None:
            self._task = asyncio.create_task(self._keep_reading(), name="live-subscription")

    async def close(self) -> None:
        """Stop reading and give the connections back."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        commands, self._commands = self._commands, None
        if commands is not None:
            await commands.aclose()

    async def ask(self, conversation_id: UUID) -> None:
        """Ask workers for the open segments of a conversation; nothing is promised."""
        if self._commands is None:
            # Blocking: many readers that come at once wait for one another's question.
            pool = redis.BlockingConnectionPool.from_url(
                settings.REDIS_URL,
                max_connections=COMMAND_CONNECTIONS,
                timeout=COMMAND_TIMEOUT_S,
                socket_timeout=COMMAND_TIMEOUT_S,
                socket_connect_timeout=COMMAND_TIMEOUT_S,
            )
            self._commands = redis.Redis.from_pool(pool)
        message = orjson.dumps({"conversation": str(conversation_id)})
        try:
            await self._commands.publish(ASK_CHANNEL, message)
        except (redis.RedisError, OSError) as error:
            log.info("open segments not asked for (%s)", type(error).__name__)

    async def _keep_reading(self) -> None:
        pause_s = FIRST_PAUSE_S
        while True:
            started = time.monotonic()
            try:
                await self._read()
            except (redis.RedisError, OSError) as error:
                log.warning(
                    "live channel lost (%s); readers get journal frames by polling",
                    type(error).__name__,
                )
            finally:
                self.ready = False
            if time.monotonic() - started > LONGEST_PAUSE_S:
                pause_s = FIRST_PAUSE_S
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    async def _read(self) -> None:
        # socket_timeout None: the client would otherwise end a quiet subscription after 5 s.
        client = redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=None, socket_connect_timeout=COMMAND_TIMEOUT_S
        )
        pubsub: Any = client.pubsub()
        try:
            await pubsub.subscribe(*[f"kz:live:{shard}" for shard in range(SHARDS)])
            heard = time.monotonic()
            while True:
                response = await pubsub.parse_response(block=False, timeout=READ_S)
                now = time.monotonic()
                if response is None:
                    if now - heard > SILENCE_S:
                        raise redis.ConnectionError("no sign of life")
                    await pubsub.ping()
                    continue
                heard = now
                if response[0] == b"message":
                    self._on_payload(response[2])
                elif response[0] == b"subscribe" and response[2] == SHARDS:
                    self.ready = True
                    self._on_ready()
        finally:
            await pubsub.aclose()
            await client.aclose()

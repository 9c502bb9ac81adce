"""Wake-ups and live deltas over Redis. Everything here may be lost without harm.

Readers hold a position and poll the journal; these messages only make them look sooner.
A message is lines of `<conversation> <letter> <json>`: F a durable frame, D a live delta.
"""

import json
import logging
import time
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import redis
from django.conf import settings

from agents.journal.frames import frame
from agents.journal.models import Entry

# Channels that live traffic is spread over, by conversation. Every web process listens to all of
# them, so more than one only multiplies messages; change it with all processes stopped.
SHARDS: Final = 1
WAKE_CHANNEL: Final = "kz:wake"
ASK_CHANNEL: Final = "kz:ask"
RUN: Final = b"run"  # wake-up: a run can be claimed
STOP: Final = b"stop"  # wake-up: a stop was asked for
SOCKET_TIMEOUT_S: Final = 0.5  # a doorbell is not worth a longer wait
QUIET_AFTER_FAILURE_S: Final = 1.0  # do not pay the timeout for every entry of an outage

log = logging.getLogger(__name__)


class Doorbell:
    """A process's one publishing connection pool; failures are noted, never raised."""

    def __init__(self) -> None:
        self._redis = redis.Redis.from_url(
            settings.REDIS_URL,
            socket_timeout=SOCKET_TIMEOUT_S,
            socket_connect_timeout=SOCKET_TIMEOUT_S,
        )
        self._quiet_until = 0.0

    def ring(self, channel: str, payload: bytes) -> None:
        """Publish, or drop the message when Redis cannot take it."""
        if time.monotonic() < self._quiet_until:
            return
        try:
            self._redis.publish(channel, payload)
        except redis.RedisError as error:
            self._quiet_until = time.monotonic() + QUIET_AFTER_FAILURE_S
            log.warning("live channel unavailable (%s); readers poll", type(error).__name__)


_doorbell: Doorbell | None = None


def doorbell() -> Doorbell:
    """The process's doorbell, made at first use."""
    global _doorbell
    if _doorbell is None:
        _doorbell = Doorbell()
    return _doorbell


def live_channel(conversation_id: UUID) -> str:
    """The channel that carries a conversation's live traffic."""
    return f"kz:live:{conversation_id.int % SHARDS}"


def announce(stream_id: UUID, entries: Sequence[Entry]) -> None:
    """Publish committed entries as durable frames, in order. Live text that follows from them is
    sent later, so that nothing overtakes.
    """
    lines = [
        f"{stream_id} F {json.dumps(frame(entry), separators=(',', ':'))}\n" for entry in entries
    ]
    doorbell().ring(live_channel(stream_id), "".join(lines).encode())


def wake_workers() -> None:
    """Tell turn workers that a run can be claimed."""
    doorbell().ring(WAKE_CHANNEL, RUN)


def hurry_stop() -> None:
    """Tell turn workers that a stop was asked for; they would see it at the next renewal."""
    doorbell().ring(WAKE_CHANNEL, STOP)

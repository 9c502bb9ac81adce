"""The turn worker: one asyncio process that drives many turns at once.

PostgreSQL decides who works what; Redis only makes the worker look sooner. Losing either delays
and loses nothing.
"""

import asyncio
import contextlib
import json
import logging
import os
import secrets
import signal
import socket
from collections.abc import Callable, Coroutine
from typing import Any, Final
from uuid import UUID

import redis.asyncio
from django.conf import settings
from django.db import Error as DatabaseError
from redis.exceptions import RedisError

from agents.gateway import sessions
from agents.journal.offloading import in_database
from agents.journal.publication import ASK_CHANNEL, STOP, WAKE_CHANNEL
from agents.turns import admission, authority, heartbeats
from agents.turns.driver import DrivenTurn, Interruption
from agents.turns.live import LivePublisher
from agents.turns.transcript import Transcripts
from tools.effects import claims

POLL_S: Final = 1.0  # how long a lost wake-up may delay a run
BACKLOG_S: Final = 0.02  # before looking for more; the run just taken goes first
PARALLEL_CLAIMS: Final = 4  # admissions under way at once
RETRY_S: Final = 1.0  # after the database or Redis could not be reached
DRAIN_S: Final = 10.0  # how long a stopping worker waits for its turns to give back
RENEWALS_PER_LEASE: Final = 3
# A renewal also tells of stops, and of agents taken back, whose wake-up was lost.
STOP_SEEN_S: Final = 3.0

log = logging.getLogger(__name__)


class Worker:
    """Claims runs up to its capacity and keeps their leases until they end."""

    def __init__(self, *, capacity: int, lease_s: float) -> None:
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._capacity = capacity
        self._lease_s = lease_s
        self._turns: dict[UUID, DrivenTurn] = {}
        self._admitting = 0
        # One ticket sends one claimer to look, so that others do not get in its way.
        self._tickets: asyncio.Queue[None] = asyncio.Queue(PARALLEL_CLAIMS)
        self._publisher = LivePublisher()
        self._transcripts = Transcripts()
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Work until SIGTERM or SIGINT, then give open runs back and return.

        A duty that ends by itself ends the worker too, with its fault: a worker that goes on
        without renewing or claiming would only look alive.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopping.set)
        renew_every_s = min(self._lease_s / RENEWALS_PER_LEASE, STOP_SEEN_S)
        duties = [
            asyncio.create_task(self._publisher.run()),
            asyncio.create_task(self._repeating(self._renew, renew_every_s)),
            asyncio.create_task(self._repeating(self._beat, heartbeats.INTERVAL_S)),
            asyncio.create_task(self._listen()),
        ]
        claiming = [asyncio.create_task(self._claim()) for _ in range(PARALLEL_CLAIMS)]
        stopped = asyncio.create_task(self._stopping.wait())
        log.info("turn worker %s ready, up to %d turns", self.owner, self._capacity)
        ended, _ = await asyncio.wait(
            [stopped, *duties, *claiming], return_when=asyncio.FIRST_COMPLETED
        )
        self._stopping.set()
        await self._drain(duties, claiming)
        for task in ended - {stopped}:
            await task

    async def _drain(
        self, duties: list[asyncio.Task[None]], claiming: list[asyncio.Task[None]]
    ) -> None:
        for _ in claiming:
            self._look()
        await asyncio.wait(claiming, timeout=DRAIN_S)  # what is being claimed is given back too
        publisher, *others = duties
        for duty in (*others, *claiming):
            duty.cancel()
        turns = list(self._turns.values())
        for turn in turns:
            turn.interrupt(Interruption.DRAIN)
        if turns:
            await asyncio.wait([turn.task for turn in turns], timeout=DRAIN_S)
        publisher.cancel()
        await asyncio.gather(*duties, *claiming, return_exceptions=True)
        await sessions.close()

    def _look(self) -> None:
        """Let one claimer look for a run; as many tickets as claimers are enough."""
        with contextlib.suppress(asyncio.QueueFull):
            self._tickets.put_nowait(None)

    async def _claim(self) -> None:
        """Look for a run at a ticket, now and then without one, and soon after each success."""
        pause_s = 0.0
        while not self._stopping.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._tickets.get(), pause_s)
            taken = await self._take()
            if taken is not None:
                self._drive(taken)
            pause_s = POLL_S if taken is None else BACKLOG_S

    async def _take(self) -> admission.Admitted | None:
        """A claimed run, within the capacity and as far as the database can be reached."""
        if len(self._turns) + self._admitting >= self._capacity:
            return None
        self._admitting += 1
        try:
            return await in_database(
                admission.take,
                self.owner,
                lease_s=self._lease_s,
                transcripts=self._transcripts,
            )
        except DatabaseError as error:
            log.warning("no run could be claimed (%s)", type(error).__name__)
            await asyncio.sleep(RETRY_S)
            return None
        finally:
            self._admitting -= 1

    def _drive(self, admitted: admission.Admitted) -> None:
        run_id = admitted.claim.run_id
        turn = DrivenTurn(admitted, self._publisher, self._transcripts)
        self._turns[run_id] = turn
        turn.task.add_done_callback(lambda _: self._forget(run_id, turn))

    def _forget(self, run_id: UUID, turn: DrivenTurn) -> None:
        if self._turns.get(run_id) is turn:
            del self._turns[run_id]
        self._look()

    async def _renew(self) -> None:
        """Extend every lease; what could not be extended is lost, what is to stop is stopped, and
        what its member may no longer do ends.
        """
        held = {run_id: turn.admitted.claim for run_id, turn in self._turns.items()}
        if not held:
            return
        identities = [
            turn.admitted.identity for turn in self._turns.values() if turn.admitted.refused is None
        ]
        renewed = await in_database(claims.renew, list(held.values()), lease_s=self._lease_s)
        stops = {renewal.run_id: renewal.stop_requested for renewal in renewed}
        withdrawn = await in_database(authority.withdrawn, identities)
        for run_id in held:
            turn = self._turns.get(run_id)
            if turn is None or turn.admitted.claim != held[run_id]:
                continue
            if run_id not in stops:
                turn.interrupt(Interruption.LOST)
            elif stops[run_id]:
                turn.interrupt(Interruption.STOP)
            elif run_id in withdrawn:
                turn.interrupt(Interruption.WITHDRAWN)

    async def _beat(self) -> None:
        await in_database(heartbeats.beat, self.owner)

    async def _repeating(
        self, duty: Callable[[], Coroutine[Any, Any, None]], interval_s: float
    ) -> None:
        while True:
            try:
                await duty()
            except DatabaseError as error:
                log.warning("%s failed (%s)", duty.__name__, type(error).__name__)
            await asyncio.sleep(interval_s)

    async def _listen(self) -> None:
        """Hear wake-ups, stops and questions for open segments; reconnect for ever."""
        while True:
            client = redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_timeout=None)
            try:
                async with client.pubsub(ignore_subscribe_messages=True) as subscription:
                    await subscription.subscribe(WAKE_CHANNEL, ASK_CHANNEL)
                    async for message in subscription.listen():
                        await self._hear(message["channel"].decode(), message["data"])
            except (RedisError, OSError) as error:
                log.warning("wake-ups unavailable (%s); polling", type(error).__name__)
                await asyncio.sleep(RETRY_S)
            finally:
                await client.aclose()

    async def _hear(self, channel: str, payload: bytes) -> None:
        if channel == ASK_CHANNEL:
            asked = _conversation_asked_for(payload)
            for turn in self._turns.values():
                if str(turn.admitted.identity.conversation_id) == asked:
                    self._publisher.answer(turn.host.live)
        elif payload == STOP:
            with contextlib.suppress(DatabaseError):
                await self._renew()
        self._look()


def _conversation_asked_for(payload: bytes) -> str | None:
    """The conversation a question names; None for anything else that came over the channel."""
    try:
        asked = json.loads(payload)
    except ValueError:
        return None
    return asked.get("conversation") if isinstance(asked, dict) else None

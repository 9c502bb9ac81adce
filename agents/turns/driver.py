"""One turn from admission to its terminal, to its waiting, or to another worker that takes it."""

import asyncio
import logging
from enum import Enum

from agents.conversations.models import InputKind
from agents.engine import bounds
from agents.engine.controllers.host import Controller
from agents.engine.controllers.tomo import Tomo
from agents.engine.effects import Settle, Terminal, Wait
from agents.engine.events import Event
from agents.guardrails.facts import Tripped
from agents.journal.offloading import in_database
from agents.turns import compaction
from agents.turns.admission import Admitted
from agents.turns.host import TurnHost
from agents.turns.inactivity import Silence
from agents.turns.live import LivePublisher
from agents.turns.transcript import Transcripts
from audit.reasons import Reason
from tools.effects import claims
from tools.effects.claims import LeaseLost

log = logging.getLogger(__name__)


class Interruption(Enum):
    """Why a turn's task is cancelled from outside."""

    STOP = "stop"  # the member asked: settle as cancelled
    LOST = "lost"  # another worker owns the run: write nothing
    DRAIN = "drain"  # this process ends: give the run back
    SILENCE = "silence"  # nothing was heard for too long: settle as failed
    WITHDRAWN = "withdrawn"  # the member may no longer use the agent: settle as failed


class DrivenTurn:
    """A turn and the task that works it. `interrupt` is safe to call at any time, repeatedly."""

    def __init__(
        self, admitted: Admitted, publisher: LivePublisher, transcripts: Transcripts
    ) -> None:
        self.admitted = admitted
        self._transcripts = transcripts
        self._silence = Silence(lambda: self.interrupt(Interruption.SILENCE))
        self._controller: Controller = Tomo()
        self.host = TurnHost(
            admitted, publisher, transcripts, self._silence, self._controller.steer
        )
        self._interruption: Interruption | None = None
        self.task = asyncio.create_task(self._drive())

    def interrupt(self, why: Interruption) -> None:
        """Cancel what the turn is doing; the first reason wins."""
        if self._interruption is None and not self.task.done():
            self._interruption = why
            self.task.cancel()

    async def _drive(self) -> None:
        try:
            await self._work_unless_interrupted()
        except LeaseLost:
            log.info("run %s is worked elsewhere", self.admitted.claim.run_id)
        except Exception:  # the claim stays: the lease runs out and the run is taken up again
            log.exception("run %s was interrupted by a fault", self.admitted.claim.run_id)
        finally:
            self._silence.rest()

    async def _work_unless_interrupted(self) -> None:
        try:
            await self._work()
        except asyncio.CancelledError:
            match self._interruption:
                case Interruption.STOP:
                    await self._settle_stopped()
                case Interruption.SILENCE:
                    await self._give_up(Reason.INACTIVITY_TIMEOUT)
                case Interruption.WITHDRAWN:
                    await self._give_up(Reason.AGENT_UNAVAILABLE)
                case Interruption.DRAIN:
                    await in_database(
                        claims.release, self.admitted.claim.run_id, self.admitted.claim.fence
                    )
                case None:
                    raise

    async def _work(self) -> None:
        if self.admitted.refused is not None:
            await self.host.settle(refusal(self.admitted.refused))
            return
        if self.admitted.kind == InputKind.COMPACTION:
            await compaction.run(self.admitted, self._transcripts)
            return
        left_s = bounds.WALL_SECONDS - self.admitted.past.worked_s
        events: tuple[Event, ...] = self.admitted.past.events
        loop = asyncio.get_running_loop()
        until = loop.time() + left_s
        while events:
            intent = await self._next_intent(events, until)
            if isinstance(intent, Wait):
                await self.host.park()
                return
            taken = await self.host.settle(intent)
            events = (taken,) if taken is not None else ()

    async def _next_intent(self, events: tuple[Event, ...], until: float) -> Settle | Wait:
        """Let the controller work, within the turn's time and its guardrails."""
        try:
            async with asyncio.timeout_at(until):
                self._silence.watch()
                return await self._controller.run(self.host, events)
        except TimeoutError:
            self.host.keep_partial()
            return self._controller.inactivity_timed_out(Reason.WALL_TIME_EXCEEDED)
        except Tripped as tripped:
            return Settle(Terminal.FAILED, tripped.reason)
        finally:
            self._silence.rest()

    async def _settle_stopped(self) -> None:
        self.host.keep_partial()
        await self.host.settle(self._controller.abort())

    async def _give_up(self, reason: Reason) -> None:
        """Close what is open and the turn, within one deadline of its own."""
        self.host.batches.halted = True
        self.host.keep_partial()
        intent = self._controller.inactivity_timed_out(reason)
        async with asyncio.timeout(bounds.SETTLEMENT_SECONDS):
            await self.host.batches.give_up()
            await self.host.settle(intent)


def refusal(reason: Reason) -> Settle:
    """How a turn ends that may not run."""
    if reason is Reason.STOPPED:
        return Settle(Terminal.CANCELLED, reason)
    return Settle(Terminal.FAILED, reason)

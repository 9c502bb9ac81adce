"""One turn from admission to its terminal, or to the moment another worker takes it."""

import asyncio
import logging
from enum import Enum

from agents.engine import bounds
from agents.engine.controllers.tomo import Tomo
from agents.engine.effects import Settle, Terminal
from agents.journal.offloading import in_database
from agents.turns.admission import Admitted
from agents.turns.host import TurnHost
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


class DrivenTurn:
    """A turn and the task that works it. `interrupt` is safe to call at any time, repeatedly."""

    def __init__(
        self, admitted: Admitted, publisher: LivePublisher, transcripts: Transcripts
    ) -> None:
        self.admitted = admitted
        self.host = TurnHost(admitted, publisher, transcripts)
        self.task = asyncio.create_task(self._drive())
        self._controller = Tomo()
        self._interruption: Interruption | None = None

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

    async def _work_unless_interrupted(self) -> None:
        try:
            await self._work()
        except asyncio.CancelledError:
            if self._interruption is Interruption.STOP:
                await self._settle_stopped()
            elif self._interruption is Interruption.DRAIN:
                await in_database(
                    claims.release, self.admitted.claim.run_id, self.admitted.claim.fence
                )
            elif self._interruption is None:
                raise

    async def _work(self) -> None:
        if self.admitted.refused is not None:
            await self.host.settle(refusal(self.admitted.refused))
            return
        try:
            async with asyncio.timeout(bounds.WALL_SECONDS):
                effect = await self._controller.run(self.host, self.admitted.past)
        except TimeoutError:
            self.host.keep_partial()
            effect = Settle(Terminal.FAILED, Reason.WALL_TIME_EXCEEDED)
        await self.host.settle(effect)

    async def _settle_stopped(self) -> None:
        self.host.keep_partial()
        await self.host.settle(self._controller.abort())


def refusal(reason: Reason) -> Settle:
    """How a turn ends that may not run."""
    if reason is Reason.STOPPED:
        return Settle(Terminal.CANCELLED, reason)
    return Settle(Terminal.FAILED, reason)

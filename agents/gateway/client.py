"""The direct client: one model request outside the steps of a turn, answered whole.

For shortening a conversation and for planning. A call made here is accounted for here, by one row
for each attempt, whatever becomes of it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Final
from uuid import uuid4

from django.db import DatabaseError

from agents.gateway import budgets, calls, failures, metering
from agents.gateway.calls import CallSubject, ModelCallEnded
from agents.gateway.connection import USUAL, Connection, Lifecycle
from agents.gateway.events import AttemptFailed, Completed, ModelRequest, ProviderFailure
from agents.gateway.stream import stream
from agents.journal.offloading import in_database, to_its_end
from audit.reasons import Reason
from audit.refusals import RateLimited

RENEW_EVERY_S: Final = 15.0  # a third of what a hold lasts

log = logging.getLogger(__name__)


class ProviderError(Exception):
    """The provider failed. `failure` says how, in closed codes; its message may be shown."""

    def __init__(self, failure: ProviderFailure) -> None:
        super().__init__(str(failure.code))
        self.failure = failure


async def complete(
    connection: Connection,
    request: ModelRequest,
    subject: CallSubject,
    *,
    step: int = 0,
    lifecycle: Lifecycle = USUAL,
) -> Completed:
    """Ask the model and answer with the whole outcome, which has not failed.

    Raises `ProviderError` for a failure of the provider, `RateLimited(BUDGET_EXHAUSTED)` before
    anything is sent, and what a request of no sense raises by itself: each is recorded and raised
    again as it was, so that a caller can tell them apart.
    """
    if subject.run_id is None:
        subject = replace(subject, call_id=uuid4())
    full = await metering.hold(connection, subject, request)
    if full is not None:
        raise RateLimited(
            full.message, retry_after_s=full.renews_in_s, reason=Reason.BUDGET_EXHAUSTED
        )
    ended: list[ModelCallEnded] = []
    try:
        async with _holding(connection, subject):
            return await _asked(connection, request, ended, step, lifecycle)
    except ProviderError:
        raise
    except asyncio.CancelledError:
        ended.append(ModelCallEnded(step, None))
        raise
    except Exception:
        ended.append(ModelCallEnded(step, _malformed()))
        raise
    finally:
        await _record(connection, subject, ended)


async def _asked(
    connection: Connection,
    request: ModelRequest,
    ended: list[ModelCallEnded],
    step: int,
    lifecycle: Lifecycle,
) -> Completed:
    completed: Completed | None = None
    async with aclosing(stream(connection, request, lifecycle)) as events:
        async for event in events:
            if isinstance(event, AttemptFailed | Completed):
                ended.append(ModelCallEnded(step, event))
            if isinstance(event, Completed):
                completed = event
    assert completed is not None, "the gateway ends every request with one outcome"
    if completed.failure is not None:
        raise ProviderError(completed.failure)
    return completed


async def _record(
    connection: Connection, subject: CallSubject, ended: list[ModelCallEnded]
) -> None:
    """Write the rows. That they cannot be written must not hide why a call failed."""
    try:
        await to_its_end(calls.record, connection, subject, ended)
    except DatabaseError:
        last = ended[-1].ended if ended else None
        if isinstance(last, Completed) and last.failure is None:
            raise
        log.exception("a failed model call could not be recorded")


def _malformed() -> Completed:
    return Completed("", "", (), "failed", None, failures.malformed())


@asynccontextmanager
async def _holding(connection: Connection, subject: CallSubject) -> AsyncIterator[None]:
    """Keep what the call holds of budgets while it lasts; a run's holds live with its claim."""
    call_id = subject.call_id
    if call_id is None or not connection.is_budgeted:
        yield
        return

    async def renew() -> None:
        while True:
            await asyncio.sleep(RENEW_EVERY_S)
            try:
                await in_database(budgets.renew, call_id)
            except DatabaseError:
                log.warning("a hold on a budget could not be renewed")

    task = asyncio.create_task(renew())
    try:
        yield
    finally:
        task.cancel()

"""The connection test: asks a deployment for one token and says in plain words what happened."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from django.db import transaction

from agents.gateway import calls, deployments, sessions, stream
from agents.gateway.calls import CallSubject, ModelCallEnded
from agents.gateway.connection import Connection, Lifecycle, Timeouts
from agents.gateway.events import Completed, ModelRequest, ProviderFailure
from agents.gateway.models import Deployment, Purpose
from agents.members.models import Member
from audit import funnel
from audit.reasons import Action, Outcome, Reason
from audit.refusals import Refusal

# Somebody waits for the page; a model that is slower is of no use in a conversation either.
CONNECT_S: Final = 5.0
FIRST_BYTE_S: Final = 15.0
TOTAL_S: Final = 20.0
SLOW_MS: Final = 5_000

LIFECYCLE: Final = Lifecycle(idle_s=FIRST_BYTE_S, total_s=TOTAL_S, retries=0)
REQUEST: Final = ModelRequest(
    messages=[{"role": "user", "content": "Say one word."}], max_output_tokens=1
)

WORDS: Final[dict[Reason, str]] = {
    Reason.PROVIDER_UNREACHABLE: "Nobody answers there: the connection was refused or lost.",
    Reason.PROVIDER_REFUSED: "The server refused the request.",
    Reason.PROVIDER_CREDENTIALS: "The server does not accept the key.",
    Reason.PROVIDER_CUT_OFF: "The server ended the connection before it had answered.",
    Reason.PROVIDER_GARBAGE: "Something answers there, but it is not a model server.",
    Reason.PROVIDER_EMPTY_RESPONSE: "The server answered with nothing.",
    Reason.RATE_LIMITED: "The server is there and limits requests at the moment.",
    Reason.TIMEOUT: "The server is too slow: it did not answer in time.",
    Reason.CONTENT_FILTERED: "The server answers; its filter held the test back.",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What a test found. `reason` is None when the model answered."""

    words: str
    reason: Reason | None = None


def test(*, actor: Member, deployment: Deployment) -> Finding:
    """Ask the deployment for one token, within `TOTAL_S` seconds, whether or not it is enabled.

    The call has a row in the ledger and one in the audit. Nothing of the server's own words and
    no secret is in what comes back. Must not run where an event loop runs.
    """
    try:
        connection = _hurried(deployments.connection(deployment))
    except Refusal as refused:
        finding = Finding(refused.message, refused.reason)
        _audit(actor, deployment, finding, None)
        return finding
    ended = asyncio.run(_ask(connection))
    finding = _finding(ended)
    subject = CallSubject(member_id=actor.pk, purpose=Purpose.TEST)
    with transaction.atomic():
        calls.record(connection, subject, [ModelCallEnded(0, ended)])
        _audit(actor, deployment, finding, ended)
    return finding


def _hurried(connection: Connection) -> Connection:
    own = connection.timeouts
    timeouts = Timeouts(
        connect_s=min(own.connect_s, CONNECT_S),
        first_byte_s=min(own.first_byte_s, FIRST_BYTE_S),
    )
    # A test that an administrator makes counts towards nobody's budget.
    return replace(connection, timeouts=timeouts, is_budgeted=False)


async def _ask(connection: Connection) -> Completed:
    completed: Completed | None = None
    try:
        async with aclosing(stream.once(connection, REQUEST, LIFECYCLE)) as events:
            async for event in events:
                if isinstance(event, Completed):
                    completed = event
    finally:
        await sessions.close()
    assert completed is not None, "a provider ends every attempt with one outcome"
    return completed


def _finding(ended: Completed) -> Finding:
    if ended.failure is not None:
        return Finding(_words(ended.failure), ended.failure.code)
    waited_ms = ended.first_token_ms if ended.first_token_ms is not None else ended.duration_ms
    if waited_ms > SLOW_MS:
        return Finding(f"It works, but slowly: the first word took {waited_ms / 1000:.0f} seconds.")
    return Finding(f"It works: the model answered after {waited_ms / 1000:.1f} seconds.")


def _words(failure: ProviderFailure) -> str:
    if failure.code is Reason.PROVIDER_UNREACHABLE and not failure.retryable:
        return failure.message  # a certificate that nobody vouches for
    words = WORDS.get(failure.code, failure.message)
    if failure.status == 404:
        words = "The server answers, but knows neither this path nor this model."
    if failure.status is not None and failure.status != 200:
        words = f"{words} (Status {failure.status}.)"
    return words


def _audit(
    actor: Member, deployment: Deployment, finding: Finding, ended: Completed | None
) -> None:
    funnel.record(
        action=Action.DEPLOYMENT_TESTED,
        actor=actor.principal,
        outcome=Outcome.SUCCESS if finding.reason is None else Outcome.ERROR,
        reason=finding.reason,
        subject=("deployment", str(deployment.pk)),
        details={"duration_ms": ended.duration_ms} if ended else {},
    )

"""A run nobody watches asks its member to come before it asks for an approval."""

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from agents.journal import replay
from agents.journal.offloading import in_database
from agents.turns import decisions, parking
from tests.approvals.asking import PLAN
from tests.tools.conftest import Run, run, start_run
from tools.boundary import policies
from tools.boundary.contract import Parked, ToolCall, ToolOutcome
from tools.boundary.models import Approval, FamilyPolicy, PolicyMode
from tools.effects import claims
from tools.effects.models import RunClaim

__all__ = ["run", "start_run"]  # fixtures of this file


@pytest.fixture(autouse=True)
def asking(committed_db: None) -> Iterator[None]:
    """Saving is asked about."""
    policies.decide(actor="system:tests", family="artifacts", mode=PolicyMode.APPROVAL)
    yield
    FamilyPolicy.objects.filter(family="artifacts").delete()


def resume(run: Run) -> None:
    """Claim the run as the next worker does."""
    held = RunClaim.objects.get(run_id=run.identity.run_id)
    (claim,) = claims.claim("tests", limit=1, lease_s=60, queue=held.queue)
    run.identity = replace(run.identity, fence=claim.fence)


def park(run: Run, parked: Parked) -> None:
    admitted: Any = SimpleNamespace(
        claim=claims.Claim(run.identity.run_id, run.identity.fence, 1),
        identity=run.identity,
        input_id=uuid4(),
        member_name="Alice",
    )
    parking.park(admitted, [parked])


def frames(run: Run) -> list[tuple[str, Any]]:
    return [(entry.kind, entry.data) for entry in replay.of_run(run.identity.run_id)]


@pytest.mark.req("BND-051")
async def test_the_exact_call_is_staged_anew_when_the_member_comes(run: Run) -> None:
    run.identity = replace(run.identity, watched=False)
    call = ToolCall("call-0", 1, 0, "create_artifact", PLAN)

    async def made() -> Any:
        return await run.make(call)

    parked = await made()
    assert isinstance(parked, Parked)
    await in_database(park, run, parked)
    assert await in_database(frames, run) == [("agent_run_waiting", {"for": "input"})]
    unasked = await in_database(Approval.objects.get, run_id=run.identity.run_id)
    assert (unasked.state, unasked.expires_at) == ("unasked", None)

    await in_database(decisions.answer, member=run.member, approval_id=unasked.id)
    await in_database(resume, run)
    again = await made()
    assert isinstance(again, Parked)
    await in_database(park, run, again)
    rows = Approval.objects.filter(run_id=run.identity.run_id, state="pending")
    pending = await in_database(rows.get)
    assert pending.id != unasked.id
    assert (pending.digest, pending.arguments) == (unasked.digest, PLAN)
    assert [kind for kind, _ in await in_database(frames, run)] == [
        "agent_run_waiting",
        "approval_requested",
        "agent_run_waiting",
    ]
    await in_database(
        decisions.decide,
        member=run.member,
        approval_id=pending.id,
        decision="approve",
        digest=pending.digest,
    )
    await in_database(resume, run)
    outcome = await made()
    assert isinstance(outcome, ToolOutcome)
    assert outcome.outcome == "success"

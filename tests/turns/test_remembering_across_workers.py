"""What a run remembers of its calls survives the worker that made them."""

import asyncio
import secrets

import pytest

from agents.journal.offloading import in_database
from agents.turns.driver import Interruption
from agents.turns.live import LivePublisher
from artifacts.models import Artifact
from tests.patience import until
from tests.turns.conftest import Desk
from tests.turns.working import begun

pytestmark = pytest.mark.stack


@pytest.mark.req("BND-035", "BND-040")
async def test_a_write_of_an_earlier_worker_is_not_made_again(
    alone: Desk, publisher: LivePublisher
) -> None:
    title, gate = secrets.token_hex(8), secrets.token_hex(4)
    save = f'call: create_artifact {{"title": "{title}", "kind": "text", "content": "once"}}'
    script = f"{save}\nthen:\nhold: {gate}\n{save}\nthen:\nsay: Saved once."
    asked = await in_database(alone.ask, script)
    first = await begun(asked, publisher)
    await asyncio.to_thread(until, lambda: alone.stack.held(gate) == 1, "the second step is asked")
    first.interrupt(Interruption.DRAIN)
    await first.task

    second = await begun(asked, publisher)
    assert second.admitted.claim.fence == 2
    await asyncio.to_thread(alone.stack.release, gate)
    await second.task
    entries = await in_database(alone.entries, asked)
    assert entries[-1].kind == "agent_run_completed", entries[-1].data
    results = [entry.data for entry in entries if entry.kind == "tool_ended"]
    assert [result["outcome"] for result in results] == ["success", "success"]
    assert [result["result"].get("repeat_suppressed", False) for result in results] == [False, True]
    kept = Artifact.objects.filter(owner=alone.member, title=title)
    assert await in_database(kept.count) == 1

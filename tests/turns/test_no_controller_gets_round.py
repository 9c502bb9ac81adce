"""What ends a turn is held by the host: a controller that goes on regardless gets nowhere."""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest

from agents.engine import bounds
from agents.engine.controllers.host import Host
from agents.engine.controllers.tomo import Tomo
from agents.engine.effects import CallModel, Intent, RunTools
from agents.engine.events import Event
from agents.gateway.models import ModelCall
from agents.journal.models import Entry
from agents.journal.offloading import in_database
from agents.turns.live import LivePublisher
from tests.turns.conftest import Desk
from tests.turns.working import begun

pytestmark = pytest.mark.stack


class Stubborn(Tomo):
    """Asks and calls on and on, whatever it is told."""

    async def run(self, host: Host, events: Sequence[Event]) -> Intent:
        step = 1
        while True:
            answered = await host.call_model(CallModel(step))
            if answered.calls:
                await host.run_tools(RunTools(step, answered.calls))
            step += 1


async def entries_of(desk: Desk, publisher: LivePublisher, script: str) -> list[Entry]:
    asked = await in_database(desk.ask, script)
    turn = await begun(asked, publisher)
    turn._controller = Stubborn()
    await asyncio.wait({turn.task})
    return await in_database(desk.entries, asked)


@pytest.mark.req("GRD-002", "BND-016")
@pytest.mark.parametrize(
    ("step", "reason", "count"),
    [
        (f'call: read_artifact {{"artifact_id": "{uuid4()}"}}', "repeated_tool_failure", 3),
        ('call: read_minds {"of": "otto"}', "denials_exhausted", 2),
    ],
    ids=["failures", "denials"],
)
async def test_rules_of_conduct_end_it(
    alone: Desk, publisher: LivePublisher, step: str, reason: str, count: int
) -> None:
    entries = await entries_of(alone, publisher, f"{step}\nthen:\n" * 8 + "say: Never\n")
    assert (entries[-1].kind, entries[-1].data["reason"]) == ("agent_run_failed", reason)
    assert len([entry for entry in entries if entry.kind == "tool_ended"]) == count


@pytest.mark.req("GRD-002", "GRD-003")
async def test_the_budget_of_steps_ends_it(alone: Desk, publisher: LivePublisher) -> None:
    entries = await entries_of(alone, publisher, "say: Again\n")
    assert entries[-1].data["reason"] == "step_limit"
    calls: Any = ModelCall.objects.filter(run_id=entries[0].run_id)
    assert await in_database(calls.count) == bounds.MAX_MODEL_STEPS

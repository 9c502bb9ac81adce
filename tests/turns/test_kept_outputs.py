"""A whole turn whose trusted tool declares envelopes: what people see, and what the model reads."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from agents.journal.offloading import in_database
from agents.turns.admission import Admitted
from agents.turns.live import LivePublisher
from artifacts.models import Artifact, ArtifactVersion
from tests.artifacts.envelopes import ferries
from tests.turns.conftest import Desk
from tests.turns.working import begun
from tools.boundary.contract import ArtifactOutput, Json, ToolContext, ToolResult

pytestmark = pytest.mark.stack

PRODUCE = 'call: create_artifact {"title": "Departures", "kind": "text", "content": "x"}'
HIDDEN = "harbour.departures"  # stands in every envelope


def producing(*outputs: ArtifactOutput) -> Callable[[Admitted], Admitted]:
    """A run in which the tool is a trusted producer of these."""

    def change(admitted: Admitted) -> Admitted:
        async def execute(context: ToolContext, arguments: Json) -> ToolResult:
            return ToolResult("success", {"message": "All saved!"}, artifact_outputs=outputs)

        tool = replace(admitted.offered["create_artifact"], execute=execute)
        return replace(admitted, offered={**admitted.offered, tool.name: tool})

    return change


@pytest.mark.req("REN-015", "REN-020", "REN-021")
async def test_what_a_turn_declares_is_kept_shown_and_told_once(
    alone: Desk, publisher: LivePublisher
) -> None:
    asked = await in_database(alone.ask, f"{PRODUCE}\nthen:\nsay: Here are the departures.\n")
    outputs = ArtifactOutput(ferries(), title="Ferries of Kiel"), ArtifactOutput({"no": "envelope"})
    turn = await begun(asked, publisher, producing(*outputs))
    await turn.task
    entries = await in_database(alone.entries, asked)

    (saved,) = (entry.data for entry in entries if entry.kind == "artifact_saved")
    assert (saved["title"], saved["version"], saved["kind"]) == ("Ferries of Kiel", 1, "renderable")
    version: ArtifactVersion = await in_database(
        ArtifactVersion.objects.get, artifact_id=saved["artifact_id"]
    )
    root: Artifact = await in_database(Artifact.objects.get, id=saved["artifact_id"])
    assert json.loads(version.content) == ferries()
    assert (root.owner_id, root.conversation_id) == (alone.member.pk, alone.conversation.id)

    (ended,) = (entry for entry in entries if entry.kind == "tool_ended")
    assert ended.data["result"]["_artifact_output"] == {
        "saved": 1,
        "failed": 1,
        "message": "1 saved as artifacts, 1 could not be saved.",
    }
    told = json.loads(ended.hidden["model_view"])
    assert told["_artifact_output"]["message"].startswith("1 of 2 declared outputs could not be")
    assert "All saved!" not in ended.hidden["model_view"]
    kept = json.dumps([[entry.data, entry.hidden] for entry in entries])
    assert HIDDEN not in kept
    assert entries[-1].kind == "agent_run_completed"

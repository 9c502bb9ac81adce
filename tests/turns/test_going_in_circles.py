"""A model that keeps failing on one input is stopped, and the member is told what was not done."""

from uuid import uuid4

import pytest

from tests.turns.conftest import Desk

pytestmark = pytest.mark.stack


def reading(artifact_id: object) -> str:
    return f'call: read_artifact {{"artifact_id": "{artifact_id}"}}'


@pytest.mark.req("BND-019", "BND-022")
def test_three_failures_on_the_same_input_end_the_turn(desk: Desk) -> None:
    missing = reading(uuid4())
    accepted = desk.ask("\nthen:\n".join([*[missing] * 5, "say: never reached"]))
    ended = desk.ended(accepted)
    assert (ended.kind, ended.data["reason"]) == ("agent_run_failed", "repeated_tool_failure")
    assert "What you asked for was not done" in ended.data["message"]
    assert desk.kinds(accepted).count("tool_ended") == 3
    assert desk.ended(desk.ask("say: Next.")).kind == "agent_run_completed"


@pytest.mark.req("BND-020", "BND-030")
def test_other_inputs_count_by_themselves_until_the_tool_is_taken_away(desk: Desk) -> None:
    steps = [reading(uuid4()) for _ in range(6)]
    accepted = desk.ask("\nthen:\n".join([*steps, "say: Nothing was found."]))
    assert desk.ended(accepted).kind == "agent_run_completed"
    ended = [entry for entry in desk.entries(accepted) if entry.kind == "tool_ended"]
    assert [entry.data["error_class"] for entry in ended] == ["not_found"] * 6
    assert [entry.data["outcome"] for entry in ended] == ["error"] * 5 + ["denied"]
    assert "failed too often in this turn" in ended[-1].hidden["model_view"]
    offers = [
        entry.hidden["snapshot"]["offered"]
        for entry in desk.entries(accepted)
        if entry.kind == "tool_started"
    ]
    assert ["read_artifact" in offer for offer in offers] == [True] * 5 + [False]

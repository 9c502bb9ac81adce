"""show_chat_canvas: shown, not kept."""

import json
from dataclasses import fields

import pytest

from agents.journal.offloading import in_database
from artifacts.models import Artifact
from audit.reasons import Reason
from tests.tools.conftest import Run
from tools.boundary.contract import Canvas, Presentation


@pytest.mark.req("REG-015", "REG-016", "TST-002")
async def test_it_presents_one_page_and_keeps_nothing(run: Run) -> None:
    outcome = await run.call("show_chat_canvas", {"title": "Plan", "markdown": "# One\n\n* two"})
    assert json.loads(outcome.model_view) == {
        "outcome": "success",
        "shown": True,
        "characters": 12,
        "message": "The canvas is shown. Do not repeat its content in the answer.",
    }
    assert outcome.presentation == (
        Presentation("canvas", {"title": "Plan", "markdown": "# One\n\n* two"}),
    )
    assert outcome.member_view == {"message": "Shown as a canvas."}
    kept = Artifact.objects.filter(conversation_id=run.identity.conversation_id)
    assert await in_database(kept.count) == 0


@pytest.mark.req("REG-016")
def test_a_canvas_has_a_title_and_a_text_and_nothing_to_refer_to_it_by() -> None:
    assert [field.name for field in fields(Canvas)] == ["title", "markdown"]


@pytest.mark.req("REG-014")
async def test_one_page_has_at_most_a_hundred_thousand_characters(run: Run) -> None:
    largest = await run.call("show_chat_canvas", {"markdown": "x" * 100_000})
    assert largest.outcome == "success"
    assert len(largest.presentation[0].data["markdown"]) == 100_000
    too_long = await run.call("show_chat_canvas", {"markdown": "x" * 100_001})
    two_pages = await run.call("show_chat_canvas", {"markdown": "a", "second": "b"})
    assert [too_long.denial, two_pages.denial] == [Reason.INVALID_ARGUMENTS] * 2

"""A turn edits what its member keeps, while the member may edit it too: whole turns."""

import json
from typing import Any
from uuid import uuid4

import pytest

from artifacts import reading, writing
from artifacts.models import ArtifactVersion
from artifacts.writing import Draft
from tests.turns.conftest import Desk

pytestmark = pytest.mark.stack


def kept(desk: Desk) -> ArtifactVersion:
    draft = Draft("Timetable", "markdown", "# Ferries\n\n06:40\n07:10\n")
    return writing.create(actor=desk.member, draft=draft)


def editing(base: ArtifactVersion, line: int, text: str) -> str:
    arguments = {
        "artifact_id": str(base.artifact_id),
        "base_version": base.number,
        "tag": base.tag,
        "hunks": [{"op": "PUT", "first": line, "last": line, "lines": [text]}],
    }
    return f"call: edit_artifact {json.dumps(arguments)}"


def results(desk: Desk, word: str) -> list[dict[str, Any]]:
    """What the model was told of its calls, in their order."""
    messages = desk.requests(word)[-1]["messages"]
    return [json.loads(one["content"]) for one in messages if one["role"] == "tool"]


@pytest.mark.req("ART-006", "ART-008")
def test_an_edit_is_saved_shown_and_told_to_the_model(desk: Desk) -> None:
    base, word = kept(desk), uuid4().hex
    accepted = desk.ask(f"{editing(base, 3, '06:50')}\nthen:\nsay: Done.\n{word}")
    assert desk.ended(accepted).kind == "agent_run_completed"
    newest = reading.version(desk.member, base.artifact_id)
    assert newest.content == "# Ferries\n\n06:50\n07:10\n"
    (saved,) = (entry for entry in desk.entries(accepted) if entry.kind == "artifact_saved")
    assert (saved.data["artifact_id"], saved.data["version"]) == (str(base.artifact_id), 2)
    (told,) = results(desk, word)
    assert (told["artifact"]["tag"], told["artifact"]["digest"]) == (newest.tag, newest.digest)


@pytest.mark.req("ART-004", "ART-006")
def test_an_edit_of_what_its_member_has_changed_is_told_the_change(desk: Desk) -> None:
    base, word = kept(desk), uuid4().hex
    writing.update(
        actor=desk.member,
        artifact_id=base.artifact_id,
        content=base.content.replace("07:10", "07:15"),
        expected_version=1,
    )
    # The model tries once more on what it still believes, and then tells the member.
    script = f"{editing(base, 4, '07:20')}\nthen:\n{editing(base, 4, '07:30')}\nthen:\nsay: Late."
    accepted = desk.ask(f"{script}\n{word}")
    desk.ended(accepted)
    assert reading.version(desk.member, base.artifact_id).content == "# Ferries\n\n06:40\n07:15\n"
    assert "artifact_saved" not in desk.kinds(accepted)
    for told in results(desk, word):
        assert told["current_version"] == 2
        assert told["changed_since"] == "@@ -1,4 +1,4 @@\n # Ferries\n \n 06:40\n-07:10\n+07:15"
    # The last thing tried was a change that failed, so the product itself says so.
    answers = [entry for entry in desk.entries(accepted) if entry.kind == "assistant_message"]
    assert answers[-1].data["text"] != "Late."

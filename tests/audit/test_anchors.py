"""Anchors go outside, and the commands say in words and exit codes what they find."""

import json
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from audit import anchors, funnel, jobs
from audit.chains import CHAINS
from audit.models import Anchor
from audit.reasons import Action, Outcome


@pytest.fixture
def anchor_file(db: None, settings: Any, tmp_path: Path) -> Path:
    settings.AUDIT_ANCHOR_FILE = tmp_path / "anchors.log"
    something_happens()
    return tmp_path / "anchors.log"


def something_happens() -> None:
    funnel.record(action=Action.SIGN_IN, actor=f"member:{uuid4()}", outcome=Outcome.SUCCESS)


def say(command: str, **options: Any) -> str:
    out = StringIO()
    call_command(command, stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


def test_an_anchor_is_a_row_a_log_line_and_a_line_of_the_file(
    anchor_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", logger="audit.anchor"):
        heads = anchors.take()
    assert heads is not None
    line = anchors.to_line(heads)
    assert anchor_file.read_text() == f"{line}\n"
    assert line in caplog.text
    assert len(json.loads(line)["heads"]) == CHAINS
    assert list(anchors.read(anchor_file)) == [heads]
    assert list(anchors.stored())[-1] == heads
    assert anchor_file.stat().st_mode & 0o777 == 0o600


def test_nothing_is_anchored_twice(anchor_file: Path) -> None:
    assert anchors.take() is not None
    assert anchors.take() is None
    something_happens()
    assert anchors.take() is not None
    assert len(anchor_file.read_text().splitlines()) == 2


def test_the_job_anchors(anchor_file: Path) -> None:
    jobs.anchor()
    jobs.anchor()
    assert len(anchor_file.read_text().splitlines()) == 1


def test_an_unwritable_file_keeps_the_anchor_for_the_next_try(
    anchor_file: Path, settings: Any
) -> None:
    before = Anchor.objects.count()
    settings.AUDIT_ANCHOR_FILE = anchor_file / "no" / "folder"
    with pytest.raises(OSError, match="no"):
        anchors.take()
    assert Anchor.objects.count() == before
    settings.AUDIT_ANCHOR_FILE = anchor_file
    assert anchors.take() is not None


@pytest.mark.req("AUD-001")
def test_the_commands_anchor_and_verify(anchor_file: Path) -> None:
    assert json.loads(say("anchor_audit"))["heads"]
    assert "whole" in say("verify_audit", anchor=anchor_file)


def test_a_false_anchor_makes_verification_fail(anchor_file: Path) -> None:
    say("anchor_audit")
    line = json.loads(anchor_file.read_text())
    line["heads"][3] = [10**9, "0" * 64]
    anchor_file.write_text(json.dumps(line))
    with pytest.raises(CommandError, match="NOT whole: 1 faults"):
        say("verify_audit", anchor=anchor_file)


@pytest.mark.parametrize(
    "text", ["{}", "no json", '{"at":1,"heads":[]}', '{"at":"x","heads":[[1,2]]}']
)
def test_a_file_that_holds_no_anchors_is_named_as_such(anchor_file: Path, text: str) -> None:
    anchor_file.write_text(text)
    with pytest.raises(CommandError, match=r"line 1 of anchors\.log is not an audit anchor"):
        say("verify_audit", anchor=anchor_file)


def test_a_missing_file_is_said_in_words(anchor_file: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        say("verify_audit", anchor=anchor_file / "nowhere")

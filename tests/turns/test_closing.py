"""The one way of a final answer: failures told by the product, claims checked, guardrails last."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.guardrails.chain import Guard
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.turns import failure_account, normaliser
from agents.turns.actions import Action, Actions
from agents.turns.failure_account import CAUSE_CHARACTERS, cause
from agents.turns.normaliser import Closing
from tools.boundary import failures
from tools.boundary.contract import Presentation, ToolCall, ToolOutcome

SECRET = "ghp_" + "a1" * 18
NOISE = "\x1b[31mred\x1b[0m\x07 \x1b]8;;http://x\x07link\x9b1m\x00"


def action(outcome: str = "error", **more: Any) -> Action:
    return Action(label="Saving an artifact", outcome=outcome, is_write=True, **more)


def closing(last: Action | None = None, asked: str = "Hello") -> Closing:
    actions = Actions()
    actions.last = last
    return Closing(asked, actions, Guard([asked]))


def spoken(text: str, *, excluded: bool = False, segment: int = 0) -> Draft:
    data = {"text": text, "segment": segment}
    return Draft(Kind.ASSISTANT_MESSAGE, data, {"step": 1, "excluded": excluded})


@pytest.mark.req("NRM-006", "NRM-001")
def test_a_failed_write_at_the_end_is_told_by_the_product() -> None:
    last = action(payload={"error": {"message": "The disk is full"}})
    said = normaliser.normalise("All saved, enjoy!", closing(last))
    assert said == "“Saving an artifact” did not work: The disk is full."


@pytest.mark.req("NRM-006")
@pytest.mark.parametrize("outcome", ["success", "repeat_suppressed", "cancelled"])
def test_other_ends_leave_the_answer_to_the_model(outcome: str) -> None:
    assert normaliser.normalise("All saved.", closing(action(outcome))) == "All saved."
    read = Action(label="Looking", outcome="error", is_write=False)
    assert normaliser.normalise("Not found.", closing(read)) == "Not found."


@pytest.mark.req("BND-014")
def test_a_denied_change_is_told_with_its_original_reason() -> None:
    recovery = "Do without it and call another tool instead."
    last = action("denied", told="This tool is not allowed here.", payload={"message": recovery})
    said = normaliser.normalise(recovery, closing(last))
    assert said == "“Saving an artifact” was not done. This tool is not allowed here."
    for words in failures.DENIALS.values():
        assert words in normaliser.normalise("", closing(action("denied", told=words)))


@pytest.mark.req("NRM-007", "NRM-011")
def test_a_declared_file_is_named_and_a_second_attempt_is_an_unapplied_change() -> None:
    failed = {"error": {"message": "no such font"}}
    first = action(payload=failed, targets=("deck.pptx",))
    assert failure_account.account(first) == (
        "I couldn't create the PowerPoint file deck.pptx: no such font."
    )
    again = action(payload=failed, targets=("deck.pptx",), is_repeat=True)
    assert failure_account.account(again) == (
        "The change to deck.pptx was not applied: no such font."
    )


@pytest.mark.req("NRM-008")
@pytest.mark.parametrize(
    ("payload", "told"),
    [
        ({"error": {"message": "first"}, "diagnostics": ["second"], "stderr": "E: x"}, "first"),
        ({"error": "first", "message": "Then this. Try again."}, "first"),
        (
            {"message": "The artifact has a newer version. Read it."},
            "The artifact has a newer version.",
        ),
        ({"diagnostics": [{"message": "second"}], "stderr": "ValueError: last"}, "second"),
        ({"stderr": "dependency_install_failed: no tea"}, "no tea"),
        ({"stderr": "dependency_install_failed: no tea\nValueError: last"}, "ValueError: last"),
        ({"stderr": "warning\ndependency_install_failed: no tea"}, ""),
        ({"stderr": "Traceback:\n  File x\nKeyError: 'tea'"}, "KeyError: 'tea'"),
        ({"stderr": "ValueError: early\nand more output"}, ""),
        ({}, ""),
    ],
)
def test_the_cause_is_the_first_there_is(payload: dict[str, Any], told: str) -> None:
    assert cause(payload) == told


@pytest.mark.req("NRM-009")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (NOISE + "here", "red link here"),
        ("no file /srv/data/in/report.csv there", "no file report.csv there"),
        ("C:\\Users\\me\\x.txt is locked", "x.txt is locked"),
        ("see ~/notes/a.md and file:///etc/passwd", "see a.md and passwd"),
        ("and/or 1/2 https://example.org/a/b", "and/or 1/2 https://example.org/a/b"),
        ("two\nlines\there", "two lines here"),
        (f"key {SECRET}", "key [redacted]"),
    ],
)
def test_a_cause_is_one_clean_line(text: str, told: str) -> None:
    assert cause({"error": text}) == told


@pytest.mark.req("NRM-009")
@settings(max_examples=300, deadline=None)
@given(st.text(max_size=600))
def test_no_cause_is_long_or_has_more_than_printable_characters(text: str) -> None:
    told = cause({"error": text})
    assert len(told) <= CAUSE_CHARACTERS == 200
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in told)


@pytest.mark.req("NRM-010")
@pytest.mark.parametrize(
    "payload",
    [
        {"error": '{"code": 7, "trace": []}'},
        {"error": {"code": 7}},
        {"message": "[1, 2, 3]"},
        {"error": "result was {'a': 1}"},
        {"stdout": "some output"},
        {"error": ""},
    ],
)
def test_serialised_output_is_never_quoted(payload: dict[str, Any]) -> None:
    told = failure_account.account(action(payload=payload))
    assert told == "“Saving an artifact” did not work: the tool reported an error."


@pytest.mark.req("NRM-001", "NRM-005")
def test_the_last_text_of_a_turn_passes_and_earlier_ones_stay() -> None:
    made = "I've created the PDF."
    drafts = [spoken("Let me see."), spoken(made, segment=1), spoken("cut", excluded=True)]
    kept = normaliser.closed(drafts, closing(asked="Create a PDF"), step=2, segment=2)
    assert [draft.data["text"] for draft in kept] == [
        "Let me see.",
        "No PDF file was saved in this turn, so there is none to download.",
        "cut",
    ]
    assert kept[1].data["segment"] == 1


@pytest.mark.req("NRM-006", "NRM-001")
def test_a_turn_without_closing_words_gets_those_of_the_product() -> None:
    last = action("timeout")
    (added,) = normaliser.closed([], closing(last), step=3, segment=4)
    assert added.data == {
        "text": "“Saving an artifact” did not work: the tool reported an error.",
        "segment": 4,
    }
    assert added.private == {"step": 3, "excluded": False}
    assert normaliser.closed([], closing(), step=1, segment=0) == []


@pytest.mark.req("GRD-012", "NRM-001")
def test_the_guardrails_have_the_last_word() -> None:
    (kept,) = normaliser.closed([spoken(f"The key is {SECRET}")], closing(), step=1, segment=0)
    assert kept.data["text"] == "The key is [redacted]"


@pytest.mark.req("NRM-006")
def test_an_unknown_outcome_is_not_told_as_a_failure() -> None:
    said = failure_account.account(action(is_unknown=True, payload={"error": "interrupted"}))
    assert said == (
        "It is unknown whether “Saving an artifact” was done. Check it before you retry."
    )


def test_what_is_said_to_a_steer_is_left_to_the_model() -> None:
    after = closing(action())
    after.actions.steered()
    assert normaliser.normalise("It is four.", after) == "It is four."


def test_actions_are_read_from_outcomes() -> None:
    actions = Actions()
    call = ToolCall("1", 1, 0, "x", {"artifact_id": "a-1"})
    saved = Presentation("artifact_saved", {"artifact_id": "a-1", "title": "Plan"})
    actions.note(ToolOutcome(call, "success", "{}", {}, presentation=(saved,)), None)
    failed = json.dumps({"message": "The artifact has a newer version. Read it."})
    actions.note(ToolOutcome(call, "error", failed, {"message": "Nothing was saved."}), None)
    assert actions.last == Action(
        label="x",
        outcome="error",
        is_write=False,
        told="Nothing was saved.",
        payload={"message": "The artifact has a newer version. Read it."},
        is_repeat=True,
    )

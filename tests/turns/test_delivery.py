"""A claim to have delivered a file is held against what was kept."""

import time

import pytest

from agents.turns.actions import Saved
from agents.turns.delivery import Delivery, asked_for, check
from agents.turns.formats import ENDINGS, Format, of_file
from tests.patience import promised

REPORT = Saved("report.pdf", "a-1")


@pytest.mark.req("NRM-004")
def test_native_formats_are_these_four() -> None:
    assert [str(each) for each in Format] == ["PDF", "Word", "PowerPoint", "Excel"]
    assert set(ENDINGS.values()) == set(Format)
    assert of_file("Q3 report.PPTX") is Format.POWERPOINT
    assert (of_file("pdf"), of_file("notes.md")) == (None, None)


@pytest.mark.req("NRM-003", "NRM-004")
@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("Create a PDF from the shared PowerPoint", {Format.PDF}),
        ("Make an Excel file using the PDF I attached", {Format.EXCEL}),
        ("Summarise the PDF", set()),
        ("Write a summary of the Word document", set()),
        ("Turn this PDF into a Word document.", {Format.WORD}),
        ("Convert report.docx to pptx", {Format.POWERPOINT}),
        ("Please give me the figures as an xlsx", {Format.EXCEL}),
        ("I need a Word file and a PDF of this", {Format.WORD, Format.PDF}),
        ("What is a PDF?", set()),
        ("Give me a word of advice", set()),
    ],
)
def test_what_is_wanted_stands_in_the_verb_phrase(message: str, wanted: set[Format]) -> None:
    assert asked_for(message) == wanted


@pytest.mark.req("NRM-002")
def test_a_file_that_is_there_keeps_the_answer() -> None:
    said = "I've created the PDF. It is ready to download."
    checked = check(said, asked="Create a PDF of the plan", saved=[REPORT])
    assert (checked.outcome, checked.text) == (Delivery.MATCHES, said)


@pytest.mark.req("NRM-002")
@pytest.mark.parametrize(
    "said",
    [
        "I've created the PDF with all three chapters.",
        "I have successfully generated your PDF file.",
        "Your PDF is ready.",
        "Here is your document: [report.pdf](sandbox:/files/report.pdf)",
        "The PDF has been saved as report.pdf.",
        "You can download it [here](report.pdf).",
    ],
)
def test_success_claimed_without_a_file_is_corrected(said: str) -> None:
    checked = check(f"{said}\n\nIt has three chapters.", asked="Create a PDF of it", saved=[])
    assert checked.outcome is Delivery.UNSUPPORTED
    assert checked.text == (
        "No PDF file was saved in this turn, so there is none to download.\n\n"
        "It has three chapters."
    )


@pytest.mark.req("NRM-002")
@pytest.mark.parametrize(
    "said",
    [
        "Which chapters should the PDF have?",
        "I can't create a PDF here, but this is the text.",
        "I was not able to generate the PDF file.",
        "Shall I make the PDF with or without images?",
        "To make a PDF, print this page and choose PDF.",
    ],
)
def test_a_question_and_an_honest_failure_are_kept(said: str) -> None:
    checked = check(said, asked="Create a PDF of the plan", saved=[])
    assert (checked.outcome, checked.text) == (Delivery.HONEST, said)


def test_another_format_is_no_delivery() -> None:
    checked = check("I've created the PDF.", asked="Make a PDF", saved=[Saved("plan.docx", "a-2")])
    assert checked.outcome is Delivery.UNSUPPORTED


def test_a_made_up_link_is_corrected_even_when_nothing_was_asked() -> None:
    said = "Hier ist die Datei: [Bericht](bericht.pptx)"
    assert check(said, asked="Ja bitte", saved=[]).outcome is Delivery.UNSUPPORTED
    outside = "See [the paper](https://example.org/paper.pdf)."
    assert check(outside, asked="Any paper?", saved=[]).text == outside


def test_ordinary_answers_pass_untouched() -> None:
    said = "I've written the plan and saved it. Download speeds are fine."
    assert check(said, asked="Write a plan", saved=[]).text == said


@pytest.mark.parametrize("part", [" ", "](", "I very ", "create a ", ".x", "`", "\n", " then"])
def test_text_made_to_be_slow_is_not(part: str) -> None:
    text = part * (32_000 // len(part))
    began = time.monotonic()
    check(text, asked=text, saved=[])
    check(text, asked="Create a PDF", saved=[])
    assert time.monotonic() - began < promised(1)

"""Thinking between tags, whatever pieces the tags arrive in."""

import pytest

from agents.gateway.thinking import TagSplitter


def split(text: str, size: int, *, starts_open: bool) -> tuple[str, str]:
    splitter = TagSplitter(starts_open=starts_open)
    pieces = [splitter.feed(text[at : at + size]) for at in range(0, len(text), size)]
    pieces.append(splitter.close())
    return "".join(thinking for thinking, _ in pieces), "".join(answer for _, answer in pieces)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 200])
@pytest.mark.parametrize(
    ("text", "starts_open", "thinking", "answer"),
    [
        ("Plain.", False, "", "Plain."),
        ("<think>\nHm.\n</think>\n\nYes.", False, "Hm.", "Yes."),
        ("  <think>Hm.</think>Yes.", False, "Hm.", "Yes."),
        ("<think></think>Yes.", False, "", "Yes."),
        ("<think>a</think>\n<think>b</think>Yes.", False, "ab", "Yes."),
        ("Use <think> tags, then </think>.", False, "", "Use <think> tags, then </think>."),
        ("<thing> is no tag", False, "", "<thing> is no tag"),
        ("<think>1 < 2 </th inking> so</think>Yes.", False, "1 < 2 </th inking> so", "Yes."),
        ("<think>never closed", False, "never closed", ""),
        ("Hm.\n</think>\n\nYes.", True, "Hm.", "Yes."),
        ("<think>Hm.</think>Yes.", True, "Hm.", "Yes."),
        ("all of it", True, "all of it", ""),
        ("<thi", False, "", "<thi"),
        ("<thinking>Hm.</thinking>\nYes.", False, "Hm.", "Yes."),
        ("<reasoning>a </think> b</reasoning>Yes.", False, "a </think> b", "Yes."),
        ("<thought>a</thought><think>b</think>Yes.", False, "ab", "Yes."),
        ("<thinker> is no tag", False, "", "<thinker> is no tag"),
        ("Hm.\n</thinking>\nYes.", True, "Hm.", "Yes."),
        ("<thinking>Hm.</thinking>Yes.", True, "Hm.", "Yes."),
    ],
)
def test_it_splits_thinking_from_the_answer(
    text: str, starts_open: bool, thinking: str, answer: str, size: int
) -> None:
    assert split(text, size, starts_open=starts_open) == (thinking, answer)


def test_a_server_that_separates_thinking_itself_leaves_nothing_open() -> None:
    splitter = TagSplitter(starts_open=True)
    splitter.answer_only()
    assert splitter.feed("Yes.") == ("", "Yes.")

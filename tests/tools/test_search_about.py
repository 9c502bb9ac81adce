"""search_about: the guide, packaged."""

import json
from pathlib import Path

import pytest

from tests.tools.conftest import Run
from tools.builtin import about_index

GUIDE = Path(__file__).parents[2] / "docs" / "guide"


@pytest.mark.req("REG-011", "TST-002", "TOOL-005")
async def test_it_answers_from_the_guide_with_bounded_excerpts(run: Run) -> None:
    outcome = await run.call("search_about", {"question": "How do I connect a better model?"})
    view = json.loads(outcome.model_view)
    assert set(view) == {"outcome", "excerpts"}
    assert 1 <= len(view["excerpts"]) <= 5
    first = view["excerpts"][0]
    assert set(first) == {"source", "page", "heading", "text"}
    assert first["heading"] == "Connecting a better model when starting Kaizen"
    assert "KAIZEN_MODEL_BASE_URL" in first["text"]
    assert all(len(excerpt["text"]) <= 1_200 for excerpt in view["excerpts"])
    assert outcome.member_view["message"].startswith("Read in the guide: Models")
    assert [source["id"] for source in outcome.sources] == [
        excerpt["source"] for excerpt in view["excerpts"]
    ]


async def test_it_says_so_when_the_guide_says_nothing(run: Run) -> None:
    outcome = await run.call("search_about", {"question": "weather in Paris"})
    assert json.loads(outcome.model_view) == {
        "outcome": "success",
        "excerpts": [],
        "message": "Kaizen's pages say nothing about this. Say that you do not know.",
    }
    assert outcome.member_view == {"message": "Nothing in the guide matches."}


@pytest.mark.parametrize(
    ("question", "page", "heading"),
    [
        ("what is kaizen", "kaizen", "What Kaizen is"),
        ("what can you do?", "kaizen", "What Kaizen is"),
        ("keyboard shortcuts", "shortcuts", "Keyboard shortcuts"),
        ("hotkeys", "shortcuts", "Switching shortcuts off"),
        ("how to stop an answer", "conversations", "Sending, and stopping an answer"),
        ("How do I get an API token?", "api", "Getting a token"),
        ("trial model", "models", "The trial model"),
        ("why are the answers so bad", "models", "The trial model"),
        ("use ollama", "models", "Connecting a better model when starting Kaizen"),
        ("can I create my own agent", "agents", "Making an agent of your own"),
        ("who can see my artifacts", "artifacts", "Who can see an artifact"),
        ("can my boss see my conversations", "privacy", "Privacy and roles"),
        ("search old chats", "conversations", "Finding a conversation again"),
        ("what is a canvas", "conversations", "The canvas"),
        ("dark mode", "shortcuts", "Light and dark, large text, reduced motion"),
        ("I forgot my password", "privacy", "Signing in, and sessions"),
        ("what is written into the audit", "privacy", "What is recorded"),
    ],
)
def test_short_natural_questions_find_their_page(question: str, page: str, heading: str) -> None:
    best = about_index.find(question)[:2]
    assert (page, heading) in [(section.page, section.heading) for section in best]


@pytest.mark.req("REG-011")
def test_the_packaged_copy_is_the_guide_as_it_is_now() -> None:
    assert about_index.PACKAGED.read_text() == about_index.make(GUIDE)


def test_a_paragraph_too_long_for_an_excerpt_is_refused(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Title\n\n" + "long " * 300)
    with pytest.raises(ValueError, match="too long"):
        about_index.make(tmp_path)

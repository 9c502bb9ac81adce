"""What shipped personas may say: short, concrete, and nothing that the platform does not keep."""

import re

import pytest

from agents.definitions import bundling, content
from agents.definitions.models import Ceiling, Mode
from tools import AGENT_LOOP_TOOL_NAMES

PERSONAS = {bundle.slug: bundle.content["persona"] for bundle in bundling.shipped()}
# The small model that comes along reads slowly and follows few rules; who asks for a special
# agent has chosen it, and its persona may be longer.
LONGEST = {"default": 900}
LONGEST_OTHERWISE = 2_000
MOST_RULES = 8
LONGEST_SENTENCE = 40  # words

# What an agent would promise for the platform or for itself, and cannot keep.
PROMISES = re.compile(
    r"\b(guarantee|always correct|never wrong|24/7|in the background|remember (you|this) (for|from)"
    r"|(I|you) (will|can) (submit|approve|publish|install|deploy|send|e-?mail|remind|create)"
    r"|(browse|search) the (web|internet)|real[- ]time|up[- ]to[- ]date)\b",
    re.IGNORECASE,
)
IDENTIFIER = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
HOLLOW = re.compile(
    r"\b(world-class|cutting-edge|delve|leverage|seamless|state-of-the-art|as an AI)\b", re.I
)


def sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.:?!])\s+|\n", text) if part.strip(" -")]


@pytest.mark.parametrize("slug", PERSONAS)
def test_it_is_short_and_its_sentences_are_too(slug: str) -> None:
    persona = PERSONAS[slug]
    assert len(persona) <= LONGEST.get(slug, LONGEST_OTHERWISE)
    assert [each for each in sentences(persona) if len(each.split()) > LONGEST_SENTENCE] == []


def test_the_agent_people_meet_first_has_few_rules() -> None:
    assert 3 <= PERSONAS["default"].count("\n- ") <= MOST_RULES


@pytest.mark.parametrize("slug", PERSONAS)
def test_it_says_first_who_speaks(slug: str) -> None:
    name = next(b.content["name"] for b in bundling.shipped() if b.slug == slug)
    assert PERSONAS[slug].startswith(f"You are {name}")


@pytest.mark.parametrize("slug", PERSONAS)
def test_it_names_no_tool_and_promises_nothing(slug: str) -> None:
    """Which tools there are is said by the offer of each step; a name here would be called even
    where it is not offered.
    """
    persona = PERSONAS[slug]
    assert IDENTIFIER.findall(persona) == []
    assert [name for name in AGENT_LOOP_TOOL_NAMES if name in persona] == []
    assert PROMISES.findall(persona) == []
    assert HOLLOW.findall(persona) == []


def test_saving_depends_on_being_able_to() -> None:
    """The model that comes along has no tools, so nobody may be told that something was saved."""
    saving = [each for each in sentences(PERSONAS["default"]) if re.search(r"\b[Ss]ave", each)]
    assert saving
    assert all("you have a tool that saves" in each for each in saving)


def test_the_builder_speaks_of_what_a_definition_holds() -> None:
    persona = PERSONAS["agent-builder"].casefold()
    for value in (*Mode.values, *Ceiling.values):
        assert re.search(rf"\b{value}\b", persona)
    for field in ("name", "description", "mode", "ceiling", "tools", "persona"):
        assert f"- {field}:" in persona
    assert content.PERSONA_CHARACTERS > LONGEST_OTHERWISE  # what it advises would fit


@pytest.mark.parametrize("slug", ["agent-builder", "package-creator"])
def test_those_who_draft_say_that_others_decide(slug: str) -> None:
    assert re.search(r"You write (the draft|drafts)", PERSONAS[slug])


@pytest.mark.parametrize(
    "text", ["Call search_documents first.", "I will submit it for you.", "I can browse the web."]
)
def test_a_tool_name_or_a_promise_would_be_found(text: str) -> None:
    assert IDENTIFIER.search(text) or PROMISES.search(text)

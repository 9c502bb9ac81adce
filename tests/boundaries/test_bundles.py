"""What holds for all agents is said in the chain alone: no bundle and no persona says it too."""

import re
import tomllib
from collections.abc import Iterable

import pytest

from agents.prompts import grounding, plain_speak, settings_projection
from tests.boundaries.source import ROOT, Source, runtime_sources, sample, strings

BUNDLES = "agents/definitions/bundles"
# Where such words belong: the chain, the pipeline's own words, and what tools say about themselves.
SPEAKING = ("agents/prompts/", "agents/turns/", "agents/engine/", "tools/")
# Phrases that give away an instruction of the pipeline: grounding, and the life of a turn.
MARKERS = re.compile(
    "|".join(
        [
            r"never invent (?:a |any )?(?:source|citation|fact)",
            r"cite (?:only|your|all|every|the) ?sources?",
            r"(?:retriev|verif)\w* \w* ?before (?:you )?(?:answer|claim)",
            r"(?:material|data), not instructions",
            r"knowledge cut-?off",
            r"(?:current|today'?s) (?:date|time)",
            r"retry (?:the|a|any) (?:failed )?(?:call|tool|request)",
            r"(?:ask|wait) for (?:the (?:member|user|person)'?s? )?approval",
            r"if (?:a|the) tool (?:call )?fails",
            r"(?:end|finish|close|resume) (?:the|your|this) turn",
            r"(?:summari[sz]e|compact) (?:the )?(?:history|conversation|context)",
            r"token (?:budget|limit)",
            r"step (?:budget|limit)",
            r"do not (?:reveal|repeat) (?:credentials|secrets|keys)",
            r"the name is for address",
            r"settings of this run",
        ]
    ),
    re.IGNORECASE,
)


def persona_faults(personas: Iterable[tuple[str, str]]) -> list[str]:
    return [
        f"{name} says {found[0]!r}, which is for the chain to say"
        for name, text in personas
        if (found := MARKERS.search(" ".join(text.split())))
    ]


def source_faults(sources: Iterable[Source]) -> list[str]:
    """No persona hides in code either: long texts outside the chain hold no such phrase."""
    return [
        source.at(node, f"says {found[0]!r} outside the chain")
        for source in sources
        if source.path.startswith("agents/") and not source.path.startswith(SPEAKING)
        for node in strings(source)
        if isinstance(node.value, str) and (found := MARKERS.search(node.value))
    ]


def shipped() -> list[tuple[str, str]]:
    return [
        (path.name, f"{bundle.get('persona', '')}\n{bundle.get('description', '')}")
        for path in sorted((ROOT / BUNDLES).glob("*.toml"))
        for bundle in [tomllib.loads(path.read_text(encoding="utf-8"))]
    ]


@pytest.mark.req("PRM-011")
def test_no_bundle_says_what_the_chain_says() -> None:
    assert shipped()
    assert persona_faults(shipped()) == []


@pytest.mark.req("PRM-011")
def test_no_other_code_says_it() -> None:
    assert source_faults(runtime_sources()) == []


def test_the_chains_own_words_are_recognised() -> None:
    blocks = [grounding.RULES, settings_projection.HEADING]
    assert len(persona_faults([("chain", block) for block in blocks])) == 2
    assert persona_faults([("plain", plain_speak.RULES)]) == []  # a matter of style, not of life


@pytest.mark.parametrize(
    "text",
    [
        "You help. Never invent a source.",
        "If the tool call fails, retry the call twice.",
        "Always ask for the member's approval first.",
        "Mind your token budget.",
        "Verify facts before you answer.",
    ],
)
def test_a_persona_that_meddles_is_found(text: str) -> None:
    assert persona_faults([("x.toml", text)])
    assert source_faults([sample("agents/definitions/x.py", f'P = "{text}"')])
    assert source_faults([sample("agents/prompts/x.py", f'P = "{text}"')]) == []

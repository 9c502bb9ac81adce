"""Limits of repeats and searches are the engine's: no prompt asks for them, no browser counts."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.boundaries.source import ROOT

SAID = ("agents/prompts", "agents/guardrails", "agents/definitions/bundles", "templates")
READ = {".py", ".toml", ".html", ".ts", ".js", ".txt", ".md"}
SKIPPED = {"node_modules", "build", "__pycache__", "tests", "dist"}

NUMBER = r"(\d+|once|twice|two|three|four|five|six|eight|ten)"
# "at most three searches", "after 4 tool calls", "do not call a tool twice"
WORDING = re.compile(
    rf"\b{NUMBER}\s+(more\s+)?((tool|identical|same|failed|consecutive)\s+)*"
    r"(search(es)?|call(s)?|failure(s)?|attempt(s)?|tr(y|ies))\b"
    rf"|\b(call|search|tool|repeat)\w*\b[^.\n]{{0,40}}\b{NUMBER}\s+times\b"
    r"|\bnot (call|repeat|retry)\b[^.\n]{0,30}\b(tool|call)\b[^.\n]{0,20}\b(again|twice)\b",
    re.IGNORECASE,
)
# A count that decides about repeated or searching calls.
COUNTING = re.compile(
    r"(repeat|refus|discover|tool_?search|identical|suppress)\w*[^\n]{0,40}"
    r"([<>]=?|===?)\s*\d|(repeat|refusal|discovery|tool_?search)_?(count|limit|max|allowance)",
    re.IGNORECASE,
)


def texts() -> Iterable[tuple[str, str]]:
    """Every prompt module, bundle, template and browser source."""
    for folder in SAID:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in READ and not SKIPPED & set(path.relative_to(ROOT).parts):
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def faults(sources: Iterable[tuple[str, str]]) -> list[str]:
    return [
        f"{path}:{number} {line.strip():.120}"
        for path, text in sources
        for number, line in enumerate(text.split("\n"), 1)
        for rule in (WORDING, COUNTING)
        if rule.search(line)
    ]


@pytest.mark.req("BND-023")
def test_no_prompt_and_no_page_holds_a_limit_of_repeats_or_searches() -> None:
    looked_at = list(texts())
    assert {Path(path).suffix for path, _ in looked_at} >= {".py", ".toml", ".html", ".ts"}
    assert faults(looked_at) == []


@pytest.mark.parametrize(
    "line",
    [
        "Make at most three searches for tools.",
        "Stop after 4 failed tool calls.",
        "Call a tool no more than five times.",
        "Do not call the same tool again.",
        "if (turn.repeats >= 3) stop();",
        "const discovery_limit = 4;",
        "if toolSearches > 4:",
    ],
)
def test_a_limit_in_words_or_code_is_found(line: str) -> None:
    assert faults([("agents/prompts/x.py", line)])


@pytest.mark.parametrize(
    "line",
    [
        "reconnect after three seconds",
        "A search has at most 200 characters.",
        "case 'repeated_tool_failure': return say.failed();",
        "grid-template-columns: repeat(2, 1fr)",
    ],
)
def test_other_numbers_are_left_alone(line: str) -> None:
    assert faults([("templates/x.ts", line)]) == []

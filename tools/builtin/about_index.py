"""The packaged copy of the product's pages: how it is made, and how a question finds its part.

`make` cuts the pages of `docs/guide` into excerpts and is run when Kaizen is built; answering
reads the packaged file and nothing else.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Final

from audit.limits import limit

EXCERPT_CHARACTERS = limit(
    "about.excerpt", 1_200, "characters", "Length of one excerpt from the product's pages."
)
EXCERPTS = limit("about.excerpts", 5, "count", "Excerpts one question about the product gets.")
PACKAGED: Final = Path(__file__).with_name("about_index.json")
INTRODUCTION: Final = "kaizen"  # the page that answers questions with no subject of their own

SATURATION, LENGTH_WEIGHT = 1.4, 0.6  # the usual constants of BM25, shorter texts preferred less
HEADING_WEIGHT: Final = 4  # a word of a heading counts as often as this in the text
LEAST_SHARE: Final = 0.35  # of the best score; what is weaker than that only distracts

WORD: Final = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
HEADING: Final = re.compile(r"(#{1,3}) +(.+?) *#*")
ENDINGS: Final = ("ations", "ation", "ings", "ing", "ies", "ed", "es", "s", "e", "y")
# Words of questions that say nothing about their subject.
STOP_WORDS: Final = frozenset(
    """
    a about am an and any are as at be been but by can could do does for from give had has have
    how i if in into is it its just kaizen like may me might my no not of on or our please should so
    some tell than that the their them then there these they this to use using want was we what when
    where which who why will with would you your
    """.split()  # noqa: SIM905  # a list of a hundred one-word lines is harder to read
)
# What people say, and what the pages say.
SYNONYMS: Final = {
    "hotkey": "shortcut",
    "hotkeys": "shortcut",
    "keybindings": "shortcut",
    "keys": "shortcut",
    "password": "sign",
    "login": "sign",
    "logout": "sign",
    "llm": "model",
    "gpt": "model",
    "openai": "model",
    "document": "artifact",
    "documents": "artifact",
    "file": "artifact",
    "files": "artifact",
    "bot": "agent",
    "assistant": "agent",
    "assistants": "agent",
    "permission": "role",
    "permissions": "role",
    "rights": "role",
    "admin": "administrator",
    "script": "api",
    "key": "token",
    "cancel": "stop",
    "abort": "stop",
    "theme": "dark",
    "chat": "conversation",
    "chats": "conversation",
    "boss": "administrator",
    "manager": "administrator",
    "bad": "poor",
    "stupid": "poor",
    "wrong": "poor",
}


@dataclass(frozen=True)
class Section:
    """One excerpt: where it is from, and its words as Markdown."""

    page: str
    title: str
    heading: str
    text: str

    @property
    def id(self) -> str:
        """What a citation names."""
        anchor = "-".join(WORD.findall(self.heading.lower()))
        return f"about:{self.page}#{anchor}"


def make(folder: Path) -> str:
    """The packaged file's text for the pages of a folder, the same for the same pages."""
    sections = [
        asdict(section)
        for path in sorted(folder.glob("*.md"))
        for section in _sections(path.stem, path.read_text())
    ]
    return json.dumps({"sections": sections}, indent=1, ensure_ascii=False) + "\n"


def find(question: str, *, most: int = EXCERPTS) -> list[Section]:
    """The excerpts that answer a question best, best first; empty when nothing matches.

    A question whose words say nothing by themselves gets the introduction.
    """
    index = _load()
    words = set(stems(question))
    if not words:  # "what is Kaizen?", "what can you do?"
        return [section for section, _, _ in index.entries if section.page == INTRODUCTION][:most]
    scored = [
        (score, section)
        for section, counts, length in index.entries
        if (score := index.score(words, counts, length)) > 0
    ]
    scored.sort(key=lambda pair: -pair[0])
    return [section for score, section in scored[:most] if score >= LEAST_SHARE * scored[0][0]]


def stems(text: str) -> list[str]:
    """The telling words of a text, without their endings."""
    return [
        _stem(SYNONYMS.get(word, word))
        for word in WORD.findall(text.lower())
        if word not in STOP_WORDS
    ]


@dataclass(frozen=True)
class _Index:
    """All sections with their words counted."""

    entries: tuple[tuple[Section, Counter[str], int], ...]
    holding: Counter[str]  # how many sections hold a word
    mean_length: float

    def score(self, words: set[str], counts: Counter[str], length: int) -> float:
        """BM25 of one section for the words of a question."""
        total = 0.0
        for word in words & counts.keys():
            rarity = math.log(
                1 + (len(self.entries) - self.holding[word] + 0.5) / (self.holding[word] + 0.5)
            )
            damping = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / self.mean_length)
            total += rarity * counts[word] * (SATURATION + 1) / (counts[word] + damping)
        return total


@cache
def _load() -> _Index:
    entries = []
    for values in json.loads(PACKAGED.read_text())["sections"]:
        section = Section(**values)
        words = stems(section.text) + HEADING_WEIGHT * stems(section.heading)
        words += stems(section.title)
        entries.append((section, Counter(words), len(words)))
    lengths = [length for _, _, length in entries]
    return _Index(
        entries=tuple(entries),
        holding=Counter(word for _, counts, _ in entries for word in counts),
        mean_length=sum(lengths) / max(1, len(lengths)),
    )


def _stem(word: str) -> str:
    """Crude on purpose: pages and questions are cut alike."""
    word = word.removesuffix("'s")
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def _sections(page: str, markdown: str) -> Iterator[Section]:
    """The parts under each heading, split between paragraphs where they are too long."""
    title = heading = page
    paragraphs: list[str] = []
    for block in re.split(r"\n{2,}", markdown.strip()):
        found = HEADING.fullmatch(block)
        if found is None:
            paragraphs.append(block)
            continue
        yield from _excerpts(page, title, heading, paragraphs)
        paragraphs = []
        heading = found[2]
        title = heading if found[1] == "#" else title
    yield from _excerpts(page, title, heading, paragraphs)


def _excerpts(page: str, title: str, heading: str, paragraphs: list[str]) -> Iterator[Section]:
    taken = ""
    for paragraph in paragraphs:
        if len(paragraph) > EXCERPT_CHARACTERS:
            raise ValueError(f"{page}: a paragraph under {heading!r} is too long for an excerpt")
        joined = f"{taken}\n\n{paragraph}" if taken else paragraph
        if len(joined) > EXCERPT_CHARACTERS:
            yield Section(page, title, heading, taken)
            joined = paragraph
        taken = joined
    if taken:
        yield Section(page, title, heading, taken)

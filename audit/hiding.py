"""Characters that people cannot see, or that move others: what names and titles may not have."""

import unicodedata
from typing import Final

# Control characters, marks that show nothing or turn the reading direction, ends of lines and
# paragraphs, halves of characters, characters of private use.
HIDING: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co"})
# Letters and signs by their category, and yet drawn as nothing.
BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
# They belong to emoji and to scripts in which letters join; between plain letters they only hide.
JOINERS: Final = frozenset("\u200c\u200d")


def hides(text: str) -> bool:
    """Whether a text has a character with which it could pass for another one."""
    return any(_hidden(text, place) for place in range(len(text)))


def _hidden(text: str, place: int) -> bool:
    character = text[place]
    if character in JOINERS:
        around = text[place - 1 : place] + text[place + 1 : place + 2]
        return len(around) < 2 or any(each.isascii() for each in around)
    return character in BLANK or unicodedata.category(character) in HIDING

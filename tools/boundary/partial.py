"""A call's arguments while its model still writes them. Pure.

Says early what will be there in the end, never what will not: text that is given is text of the
final value. Whether the whole may run is decided elsewhere, from all of it.
"""

import json
import re
from enum import Enum
from typing import Any, Final, NoReturn

MEMBERS: Final = 64  # of one object; a call with more is not read on
VALUE_CHARACTERS: Final = 16_384  # of a member that is not watched; a longer one is passed over

_BLANKS = re.compile(r"[ \t\r\n]*+")
# Whole characters of a JSON string; the first half of a pair waits for the second.
_HIGH = r"\\u[dD][89abAB][0-9a-fA-F]{2}"
_CHARACTERS = re.compile(
    rf'(?:[^"\\]++|\\["\\/bfnrt]|{_HIGH}\\u[dD][c-fC-F][0-9a-fA-F]{{2}}'
    rf"|(?!{_HIGH})\\u[0-9a-fA-F]{{4}})*+"
)
_UNFINISHED = re.compile(rf"(?:{_HIGH})?(?:\\(?:u[0-9a-fA-F]{{0,3}})?)?")
_QUOTED = re.compile(r'(?:[^"\\]++|\\.)*+', re.DOTALL)
_MARK = re.compile(r'["{}\[\],]')


class _Broken(Exception):
    """The text is not the beginning of one readable object."""


class _At(Enum):
    """What comes next."""

    OBJECT = "{"
    FIRST_NAME = "name or }"
    NAME = "name"
    COLON = ":"
    VALUE = "value"
    AFTER = ", or }"
    END = ""


class PartialArguments:
    """Feed it what the model writes; `watched` is the member whose text is given as it comes.

    `members` holds every other member that is complete. `is_whole` says that the object has been
    closed, `is_broken` that it can no longer be read.
    """

    def __init__(self, watched: str) -> None:
        self.members: dict[str, Any] = {}
        self.is_whole = False
        self.is_broken = False
        self.has_text = False  # the watched member has begun
        self._watched = watched
        self._at = _At.OBJECT
        self._name = ""
        self._string: _String | None = None
        self._said: list[str] = []
        self._held = ""  # half an escape
        self._value: list[str] | None = None  # of a member that is not watched
        self._length = 0
        self._depth = 0
        self._is_quoted = False

    def feed(self, piece: str) -> str:
        """The watched text that this piece makes certain."""
        if self.is_broken:
            return ""
        text, self._held = self._held + piece, ""
        place = 0
        try:
            while place < len(text):
                place = self._step(text, place)
        except (_Broken, ValueError, RecursionError):
            self.is_broken = True
        said = "".join(self._said)
        self._said.clear()
        return said

    def _step(self, text: str, place: int) -> int:
        """Read on from a place; answers where the next thing begins."""
        if self._string is not None:
            return self._read_string(text, place)
        if self._value is not None:
            return self._read_value(text, place)
        blanks = _BLANKS.match(text, place)
        place = blanks.end() if blanks else place
        if place < len(text):
            self._expect(text[place])
            # A value that is not watched begins with the character itself.
            return place if self._value is not None else place + 1
        return place

    def _expect(self, mark: str) -> None:
        match self._at, mark:
            case _At.OBJECT, "{":
                self._at = _At.FIRST_NAME
            case ((_At.FIRST_NAME | _At.NAME), '"'):
                self._string = _String()
            case ((_At.FIRST_NAME | _At.AFTER), "}"):
                self._at, self.is_whole = _At.END, True
            case _At.COLON, ":":
                self._at = _At.VALUE
            case _At.VALUE, '"' if self._name == self._watched:
                self._string, self.has_text = _String(), True
            case _At.VALUE, _:
                self._value, self._length = [], 0
            case _At.AFTER, ",":
                self._at = _At.NAME
            case _At.END, "{" if not self.members and not self.has_text:
                # Some servers open every call with an empty object.
                self._at, self.is_whole = _At.FIRST_NAME, False
            case _At.END, _:
                pass  # what stands around the object of a call that is told inside another
            case _:
                raise _Broken

    def _read_string(self, text: str, place: int) -> int:
        string = self._string
        assert string is not None, "only called inside a string"
        said, end = string.read(text, place)
        if self._at is _At.VALUE:
            self._said.append(said)
        else:
            self._name = self._name + said if string.has_begun else said
            string.has_begun = True
        if not string.has_ended:
            self._held = text[end:]
            return len(text)
        self._string = None
        if self._at is _At.VALUE:
            self._at = _At.AFTER
        elif self._name in self.members or (self.has_text and self._name == self._watched):
            raise _Broken
        else:
            self._at = _At.COLON
        return end

    def _read_value(self, text: str, place: int) -> int:
        begun = place
        while True:
            if self._is_quoted:
                quoted = _QUOTED.match(text, place)
                place = quoted.end() if quoted else place
                if place == len(text) or text[place] != '"':
                    self._keep(text[begun:place])
                    self._held = text[place:]
                    return len(text)
                place, self._is_quoted = place + 1, False
                continue
            found = _MARK.search(text, place)
            if found is None:
                self._keep(text[begun:])
                return len(text)
            place, mark = found.end(), found.group()
            if mark == '"':
                self._is_quoted = True
            elif mark in "{[":
                self._depth += 1
            elif self._depth and mark in "}]":
                self._depth -= 1
            elif not self._depth:
                self._keep(text[begun : place - 1])
                self._close_value()
                return place - 1

    def _keep(self, raw: str) -> None:
        self._length += len(raw)
        if self._value is not None and self._length <= VALUE_CHARACTERS:
            self._value.append(raw)

    def _close_value(self) -> None:
        raw, self._value, self._at = self._value or [], None, _At.AFTER
        if len(self.members) >= MEMBERS:
            raise _Broken
        if self._length <= VALUE_CHARACTERS:
            self.members[self._name] = json.loads(
                _mended("".join(raw)), strict=False, parse_constant=_refuse
            )


class _String:
    """One JSON string after its first quote."""

    def __init__(self) -> None:
        self.has_begun = False
        self.has_ended = False
        self._half = ""  # of a character whose other half comes with the next piece

    def read(self, text: str, place: int) -> tuple[str, int]:
        """The characters that are certain, and where reading stopped: after the closing quote, or
        before half an escape. Raises `_Broken`.
        """
        found = _CHARACTERS.match(text, place)
        end = found.end() if found else place
        said = self._half + json.loads(f'"{text[place:end]}"', strict=False)
        self._half = ""
        if text.startswith('"', end):
            self.has_ended = True
            return _mended(said), end + 1
        if not _UNFINISHED.fullmatch(text, end):
            raise _Broken
        if said and "\ud800" <= said[-1] <= "\udbff":
            said, self._half = said[:-1], said[-1]
        return _mended(said), end


def _mended(text: str) -> str:
    """Halves of characters that meet become whole ones; half a character alone is replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _refuse(_: str) -> NoReturn:
    raise ValueError("not JSON")

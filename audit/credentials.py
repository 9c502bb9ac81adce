"""Texts without credentials: the one list of shapes that are credentials, and how they are masked.

A shape has a marker anybody may know (`sk-`) and a body that opens something. Only shapes that are
credentials beyond doubt stand here, since a reader may write back what it has read. Values that
this installation keeps secret are masked wherever they stand; callers hand them in. Pure.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

MASK: Final = "[redacted]"
SHORTEST_VALUE: Final = 6  # characters; a shorter kept value would blank ordinary words
SEEN_BEFORE: Final = 4  # characters of a kept value that are needed to recognise its beginning
CONTEXT: Final = 64  # characters already shown in which a marker may have begun
LONGEST_HEADER: Final = 1_024  # characters of a signed token before its first dot
PRIVATE_KEY_END: Final = re.compile("-----END [A-Z ]{0,40}PRIVATE KEY-----")
KEY_TAIL: Final = 80  # characters in which the end of a private key is looked for across pieces


class Run(NamedTuple):
    """A marker followed by at least `least` characters of an alphabet. `kept` markers stay."""

    marker: str
    alphabet: str
    least: int
    kept: bool = False


_QUERY: Final = (
    "[?&](?:(?i:x-(?:amz|goog)-(?:signature|security-token|credential)|sig|signature|"
    "(?:access|auth|id|refresh|api|session)?[_-]?token|api[_-]?key|client_secret))="
)
RUNS: Final[dict[str, Run]] = {
    "secret_key": Run(r"\bsk-", "[A-Za-z0-9_-]", 20),
    "repository": Run(r"\bgh[pousr]_", "[A-Za-z0-9]", 30),
    "repository_new": Run(r"\bgithub_pat_", r"\w", 30),
    "repository_other": Run(r"\bglpat-", "[A-Za-z0-9_-]", 20),
    "chat": Run(r"\bxox[abprs]-", "[A-Za-z0-9-]", 10),
    "models": Run(r"\bhf_", "[A-Za-z0-9]", 30),
    "maps": Run(r"\bAIza", "[A-Za-z0-9_-]", 30),
    "cloud": Run(r"\bA(?:KIA|SIA)", "[A-Z0-9]", 16),
    "own": Run(r"\bkz[a-z]{0,10}_", "[A-Za-z0-9_-]", 32),
    "bearer": Run(r"\b[Bb]earer\s{1,8}", "[A-Za-z0-9._~+/=-]", 16, kept=True),
    "header": Run(r"\b(?i:x-api-key):\s{0,8}", "[A-Za-z0-9._~+/=-]", 16, kept=True),
    "signed": Run(_QUERY, "[A-Za-z0-9._~+/%=-]", 12, kept=True),
}
TOKEN: Final = "[A-Za-z0-9_-]"


def _whole() -> re.Pattern[str]:
    """Every complete shape. The name of the last group is the shape's; a kept marker is a group
    called as the shape with `_marker`.
    """
    parts = [
        "(?P<private>-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"
        r"(?s:.*?)(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z))",
        rf"(?P<token>(?<![\w-])eyJ{TOKEN}{{10,{LONGEST_HEADER}}}\.{TOKEN}{{10,}}[A-Za-z0-9_.-]*)",
        r"(?P<login>(?P<login_marker>://[^/\s:@]{1,50}:)[^/\s@]{1,255}(?=@))",
    ]
    for name, run in RUNS.items():
        body = f"{run.alphabet}{{{run.least},}}"
        marker = f"(?P<{name}_marker>{run.marker})" if run.kept else run.marker
        parts.append(f"(?P<{name}>{marker}{body})")
    return re.compile("|".join(parts))


def _begun() -> re.Pattern[str]:
    """Every shape that the end of a text leaves open."""
    parts = [
        r"-----BEGIN[A-Z ]{0,60}-{0,4}",
        rf"(?<![\w-])eyJ{TOKEN}{{0,{LONGEST_HEADER}}}(?:\.{TOKEN}{{0,9}})?",
        r"://[^/\s:@]{1,50}:[^/\s@]{0,255}",
        r"\b[Bb]earer\s{0,8}",
    ]
    parts += [f"{run.marker}{run.alphabet}{{0,{run.least - 1}}}" for run in RUNS.values()]
    return re.compile(rf"(?:{'|'.join(parts)})\Z")


WHOLE: Final = _whole()
BEGUN: Final = _begun()
KEEPING: Final = frozenset({"login", *(name for name, run in RUNS.items() if run.kept)})
# What ends a marker, or makes it nearly certain: a text without any of these has no shape in it.
TELLING: Final = r"[-_=:]|earer|AIza|A[KS]IA|eyJ|BEGIN"
TELLING_BACK: Final = 4  # characters of the text before that one of these may begin in
# One of these stands in every shape (and `-key:` in any case): looked for before anything else, as
# most texts hold none.
QUICK: Final = (
    *("sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "hf_"),
    *("AIza", "AKIA", "ASIA", "kz", "eyJ", "earer", "://", "BEGIN", "="),
)
# Where any shape starts: far quicker to look for than the shapes themselves.
STARTS: Final = re.compile(
    r"sk-|gh[pousr]_|github_pat_|glpat-|xox|hf_|AIza|A[KS]IA|kz|eyJ|[Bb]earer\s|://|-----BEGIN|[?&]"
    r"|(?i:x-api-key:)"
)
ALPHABETS: Final[dict[str, re.Pattern[str]]] = {
    "token": re.compile("[A-Za-z0-9_.-]*"),
    **{name: re.compile(f"{run.alphabet}*") for name, run in RUNS.items()},
}


def masked(text: str, known: tuple[str, ...] = ()) -> str:
    """The text with every credential replaced; `known` are values kept secret here."""
    for value in known:
        if len(value) >= SHORTEST_VALUE and value in text:
            text = text.replace(value, MASK)
    if not any(part in text for part in QUICK) and "-key:" not in text.lower():
        return text
    shown: list[str] = []
    done = 0
    start = STARTS.search(text)
    while start is not None:
        match = WHOLE.match(text, start.start())
        if match is not None:
            shown += (text[done : match.start()], _mask(match))
            done = match.end()
        start = STARTS.search(text, match.end() if match else start.start() + 1)
    return "".join([*shown, text[done:]]) if shown else text


def masked_value(value: Any, clean: Callable[[str], str]) -> Any:
    """A JSON value with every text and key cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): masked_value(inner, clean) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [masked_value(inner, clean) for inner in value]
    return value


def _mask(match: re.Match[str]) -> str:
    name = match.lastgroup
    return (match[f"{name}_marker"] if name in KEEPING else "") + MASK


class Masking:
    """Masks a text that comes in pieces; used by one task.

    Ordinary text passes at once. The end of a piece is held back only while a credential could be
    beginning in it, at most about 1,000 characters; of a kept value, three characters may have
    been shown before it is recognised. Nothing of a recognised body is kept or shown.
    """

    def __init__(self, known: tuple[str, ...] = ()) -> None:
        self._known = tuple(value for value in known if len(value) >= SHORTEST_VALUE)
        self._telling = _telling(self._known)
        self._context = ""  # the end of what was shown
        self._held = ""  # what may be the beginning of a credential
        self._swallowed = ""  # name of the shape whose body still comes
        self._key_tail = ""  # the end of the swallowed part of a private key

    def feed(self, piece: str) -> str:
        """What may be shown now."""
        if self._swallowed:
            piece = self._swallow(piece)
            if not piece:
                return ""
        elif not self._held:
            window = self._context + piece
            start = len(self._context) - TELLING_BACK
            if self._telling.search(window, max(start, 0)) is None:
                self._context = window[-CONTEXT:]
                return piece
        return self._look(self._held + piece)

    def flush(self) -> str:
        """What was held, once the text has ended: no credential, or it would be masked already."""
        held = self._held
        self._held = self._context = self._swallowed = self._key_tail = ""
        return held

    def _look(self, text: str) -> str:
        """Mask what is complete, hold what has begun, show the rest."""
        shown: list[str] = []
        window, new = self._context + text, len(self._context)
        while (found := self._complete(window, new)) is not None:
            shown.append(window[new : max(new, found.kept)] + MASK)
            self._swallowed = found.open_shape
            window, new = window[found.end :], 0
        begun = self._begun(window, new)
        shown.append(window[new:begun])
        self._held, self._context = window[begun:], window[:begun][-CONTEXT:]
        return "".join(shown)

    def _complete(self, window: str, new: int) -> "_Found | None":
        """The first credential in the window. What is cut off before a full context may have been
        part of its first word, so nothing begins at its first character.
        """
        start = 1 if new == CONTEXT else 0
        found = [
            _Found(at, at, at + len(value), "")
            for value in self._known
            if (at := window.find(value, start)) >= 0
        ]
        match = WHOLE.search(window, start)
        if match is not None:
            name = match.lastgroup or ""
            marker = match.end(f"{name}_marker") if name in KEEPING else match.start()
            is_open = match.end() == len(window) and (
                name in ALPHABETS or (name == "private" and not PRIVATE_KEY_END.search(match[0]))
            )
            found.append(_Found(match.start(), marker, match.end(), name if is_open else ""))
        return min(found, default=None)

    def _begun(self, window: str, new: int) -> int:
        """Where what may be a beginning starts, at the earliest where the shown text ends."""
        match = BEGUN.search(window, 1 if new == CONTEXT else 0)
        begun = match.start() if match else len(window)
        for value in self._known:
            at = window.find(value[:SEEN_BEFORE])
            while 0 <= at < begun:
                if value.startswith(window[at:]):
                    begun = at
                at = window.find(value[:SEEN_BEFORE], at + 1)
        return max(new, begun)

    def _swallow(self, piece: str) -> str:
        """Drop more of a recognised body; what follows it is the answer."""
        if self._swallowed == "private":
            seen = self._key_tail + piece
            end = PRIVATE_KEY_END.search(seen)
            if end is None:
                self._key_tail = seen[-KEY_TAIL:]
                return ""
            self._key_tail, rest = "", seen[end.end() :]
        else:
            match = ALPHABETS[self._swallowed].match(piece)
            rest = piece[match.end() if match else 0 :]
        if rest:
            self._swallowed = ""
        return rest


class _Found(NamedTuple):
    """A credential in a window: where it starts, where what stays of it ends, where it ends, and
    its shape while more of it may come.
    """

    start: int
    kept: int
    end: int
    open_shape: str


@lru_cache(maxsize=8)
def _telling(known: tuple[str, ...]) -> re.Pattern[str]:
    beginnings = [re.escape(value[:SEEN_BEFORE]) for value in known]
    return re.compile("|".join([TELLING, *beginnings]))

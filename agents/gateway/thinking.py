"""Thinking that a model writes between tags inside its answer. Pure.

Tags count only before the answer has begun: a `<think>` in the middle of an answer is text about
tags. The blank lines around a closing tag belong to neither side.
"""

# By far the most models write the first; the others are habits of single families.
NAMES = ("think", "thinking", "thought", "reasoning")
OPEN = {f"<{name}>": f"</{name}>" for name in NAMES}
CLOSE = tuple(OPEN.values())


class TagSplitter:
    """Splits content pieces into (thinking, text), whatever pieces the tags arrive in."""

    def __init__(self, *, starts_open: bool) -> None:
        self._inside = starts_open
        self._answering = False
        self._first = True
        self._held = ""
        # What ends the open block: its own tag, any where a template opened it.
        self._closers = CLOSE

    def answer_only(self) -> None:
        """The server separates thinking itself after all; nothing is open."""
        if self._first:
            self._inside = False

    def feed(self, piece: str) -> tuple[str, str]:
        """The thinking and the text that are certain by now; undecided ends are held back."""
        if self._answering:
            return "", piece
        self._held += piece
        thinking = ""
        while not self._answering:
            if self._inside:
                said, again = self._within()
                thinking += said
            else:
                again = self._before()
            if not again:
                return thinking, ""
        text, self._held = self._held, ""
        return thinking, text

    def close(self) -> tuple[str, str]:
        """What was held back, once nothing follows."""
        held, self._held = self._held, ""
        if self._inside:
            return held.rstrip(), ""
        return "", held

    def _within(self) -> tuple[str, bool]:
        if self._first:
            # A server that opens the block in its template may still let the model repeat the tag.
            stripped = self._held.lstrip()
            if _may_open(stripped):
                return "", False
            self._held = self._opened(stripped).lstrip()
            if not self._held:
                return "", False
            self._first = False
        ends = [(at, closer) for closer in self._closers if (at := self._held.find(closer)) >= 0]
        if ends:
            at, closer = min(ends)
            said, self._held = self._held[:at], self._held[at + len(closer) :]
            self._inside = False
            return said.rstrip(), True
        keep = _undecided(self._held, self._closers)
        said, self._held = self._held[:keep], self._held[keep:]
        return said, False

    def _before(self) -> bool:
        self._held = self._held.lstrip()
        rest = self._opened(self._held)
        if rest != self._held:
            self._held = rest
            self._inside = True
            self._first = True
            return True
        if not self._held or _may_open(self._held):
            return False
        self._answering = True
        self._first = False
        return True

    def _opened(self, text: str) -> str:
        """The text without an opening tag at its start, which then says what ends the block."""
        for opener, closer in OPEN.items():
            if text.startswith(opener):
                self._closers = (closer,)
                return text.removeprefix(opener)
        return text


def _may_open(text: str) -> bool:
    """Whether the text is the beginning of an opening tag, or nothing yet."""
    return any(opener.startswith(text) and len(text) < len(opener) for opener in OPEN)


def _undecided(text: str, closers: tuple[str, ...]) -> int:
    """Where the end begins that may still turn out to be a closing tag or blanks before one."""
    longest = max(map(len, closers))
    start = text.rfind("<", max(0, len(text) - longest + 1))
    held = start >= 0 and any(closer.startswith(text[start:]) for closer in closers)
    cut = start if held else len(text)
    return len(text[:cut].rstrip())

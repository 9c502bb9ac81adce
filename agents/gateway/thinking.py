"""Thinking that a model writes between tags inside its answer. Pure.

Tags count only before the answer has begun: a `<think>` in the middle of an answer is text about
tags. The blank lines around a closing tag belong to neither side.
"""

OPEN = "<think>"
CLOSE = "</think>"


class TagSplitter:
    """Splits content pieces into (thinking, text), whatever pieces the tags arrive in."""

    def __init__(self, *, starts_open: bool) -> None:
        self._inside = starts_open
        self._answering = False
        self._first = True
        self._held = ""

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
            if OPEN.startswith(stripped) and len(stripped) < len(OPEN):
                return "", False
            self._held = stripped.removeprefix(OPEN).lstrip()
            if not self._held:
                return "", False
            self._first = False
        said, found, after = self._held.partition(CLOSE)
        if found:
            self._inside = False
            self._held = after
            return said.rstrip(), True
        keep = _undecided(self._held)
        said, self._held = self._held[:keep], self._held[keep:]
        return said, False

    def _before(self) -> bool:
        self._held = self._held.lstrip()
        if self._held.startswith(OPEN):
            self._held = self._held[len(OPEN) :]
            self._inside = True
            self._first = True
            return True
        if OPEN.startswith(self._held):
            return False
        self._answering = True
        self._first = False
        return True


def _undecided(text: str) -> int:
    """Where the end begins that may still turn out to be a closing tag or blanks before one."""
    start = text.rfind("<", max(0, len(text) - len(CLOSE) + 1))
    cut = start if start >= 0 and CLOSE.startswith(text[start:]) else len(text)
    return len(text[:cut].rstrip())

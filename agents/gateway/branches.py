"""Which branch of the constrained protocol a model takes, read while it writes. Pure."""

import json
import re

_FINAL = re.compile(r'\s*\{\s*"final"\s*:\s*"')
_TOOL = re.compile(r'\s*\{\s*"tool"\s*:\s*("(?:[^"\\]|\\.)*")')
# Whole characters of a JSON string; the first half of a pair waits for the second.
_PAIR_START = r"\\u[dD][89abAB][0-9a-fA-F]{2}"
_CHARACTERS = re.compile(
    rf'(?:[^"\\]|\\["\\/bfnrt]|{_PAIR_START}\\u[dD][c-fC-F][0-9a-fA-F]{{2}}'
    rf"|(?!{_PAIR_START})\\u[0-9a-fA-F]{{4}})*"
)
_UNFINISHED = re.compile(
    rf"\\(?:u[0-9a-fA-F]{{0,3}})?$|{_PAIR_START}(?:\\(?:u[0-9a-fA-F]{{0,3}})?)?$"
)
_ARGUMENTS = re.compile(r'\s*,\s*"arguments"\s*:\s*')
# Longer than any opening of a branch can be; what has not opened one by then is plain text.
UNDECIDED_CHARACTERS = 200


class BranchReader:
    """Feed it what the model writes.

    `tool` is the tool's name once that branch is taken, and `raw` then everything written, `length`
    characters so far; `news` gives its arguments as they come.
    `text` is the final answer so far. A server that ignores the schema and writes plain text is
    taken at its word: the text is the answer.
    """

    def __init__(self) -> None:
        self.tool: str | None = None
        self.length = 0
        self._before: str | None = ""  # what stands between name and arguments, None after it
        self._new = ""
        self._raw: list[str] = []
        self._text: list[str] = []
        self._held = ""
        self._plain = False
        self._in_final = False
        self._over = False

    @property
    def raw(self) -> str:
        return "".join(self._raw)

    @property
    def text(self) -> str:
        return "".join(self._text)

    def feed(self, piece: str) -> str:
        """The answer text that this piece makes certain."""
        if self.tool is not None:
            self._take(piece)
            return ""
        if self._over:
            return ""
        self._held += piece
        if not self._plain and not self._in_final:
            self._decide()
        said = ""
        if self._plain:
            said, self._held = self._held, ""
        elif self._in_final:
            said = self._decoded()
        if said:
            self._text.append(said)
        return said

    def close(self) -> str:
        """Answer text that was still undecided when the model stopped."""
        if self.tool is not None or self._in_final:
            return ""
        said, self._held = self._held, ""
        self._text.append(said)
        return said

    def news(self) -> str:
        """What came of a call's arguments since the last time, with what may stand after them."""
        new, self._new = self._new, ""
        return new

    def _take(self, piece: str) -> None:
        """More of a call."""
        self._raw.append(piece)
        self.length += len(piece)
        if self._before is None:
            self._new += piece
            return
        self._before += piece
        begun = _ARGUMENTS.match(self._before)
        if begun and begun.end() < len(self._before):
            self._new, self._before = self._before[begun.end() :], None

    def _decide(self) -> None:
        final = _FINAL.match(self._held)
        if final:
            self._in_final = True
            self._held = self._held[final.end() :]
            return
        tool = _TOOL.match(self._held)
        if tool:
            self.tool = json.loads(tool.group(1), strict=False)
            held, self._held = self._held, ""
            self._raw.append(held[: tool.end()])
            self.length = tool.end()
            self._take(held[tool.end() :])
            return
        begun = self._held.lstrip()
        self._plain = len(begun) > UNDECIDED_CHARACTERS or (begun[:1] not in ("", "{"))

    def _decoded(self) -> str:
        said = ""
        while self._held:
            matched = _CHARACTERS.match(self._held)
            end = matched.end() if matched else 0
            said += json.loads(f'"{self._held[:end]}"', strict=False)
            self._held = self._held[end:]
            if self._held.startswith('"'):
                self._in_final = self._over = True
                self._held = ""
            elif not self._held or _UNFINISHED.match(self._held):
                break
            else:
                # No escape that JSON knows; only a server without the grammar writes one.
                said += self._held[0]
                self._held = self._held[1:]
        # Half a character alone cannot be stored.
        return said.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

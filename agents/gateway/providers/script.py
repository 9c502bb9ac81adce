"""The language of scripted answers: what a scripted model is told to say, do and break.

A script is lines of the form `name: value`. It stands in the last message of the person, either
inside a fenced block that starts with ```script, or as the first lines of the message that look
like directives. One script can hold several steps; `then:` starts the next one. Step 1 answers the
message, step 2 answers after the first round of tool results, and so on; when the steps run out
the answer is a short closing sentence.

    say: Hello there                    answer text, sent word by word
    say: "two\\nlines"                   a value in double quotes is a JSON string
    think: Let me see                   thinking text
    call: read_artifact {"id": "7"}     a tool call; several in one step are parallel calls
    call-raw: write {'a': 1             a tool call whose argument text is sent exactly so
    tokens: 500 @ 30/s                  500 filler words, 30 a second; without @ at full speed
    think-tokens: 50 @ 10/s             the same as thinking
    pace: 20/s                          speed of the `say` and `think` lines that follow
    wait: 0.5                           a pause, in seconds
    hold: name                          a pause until somebody posts to /scripted/release/name
    split: 3                            cut following texts and arguments every 3 characters
    raw: ": keep-alive\\n\\n"             these characters, as they are, into the stream
    usage: 20 9                         prompt and completion tokens to report
    finish: content_filter              the finish label instead of the usual one
    then:                               the next step begins
    fault: status 429 retry-after 2     answer with this HTTP status (first line of a step)
    fault: html                         HTTP 200 with an HTML page (first line of a step)
    fault: error overloaded             an error frame inside the stream, then its end
    fault: cut                          end the body without a terminal chunk
    fault: reset                        reset the connection
    fault: garbage                      bytes that are no event stream, then the end
    fault: hang                         say nothing more and keep the connection open
    fault: empty                        finish at once with nothing said
    fault: length                       finish with the label for a reached output limit
    fault: split-bytes                  send what follows one byte at a time

Every fault takes a last word `times N`: only the first N attempts at the very same request meet it,
so that a retry can be seen to succeed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from json import JSONDecodeError, loads
from typing import Literal

FaultKind = Literal[
    "status",
    "html",
    "error",
    "cut",
    "reset",
    "garbage",
    "hang",
    "empty",
    "length",
    "split-bytes",
]
FAULT_KINDS: frozenset[str] = frozenset(
    {
        "status",
        "html",
        "error",
        "cut",
        "reset",
        "garbage",
        "hang",
        "empty",
        "length",
        "split-bytes",
    }
)
# Faults that replace the whole response, so they must come before anything was sent.
WHOLE_RESPONSE_FAULTS: frozenset[str] = frozenset({"status", "html"})
MAX_TOKENS = 1_000_000
MAX_WAIT_S = 3_600.0


class ScriptError(Exception):
    """A script line that cannot be read; the text names the line and the reason."""


@dataclass(frozen=True, slots=True)
class Say:
    text: str
    thinking: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Tokens:
    count: int
    per_second: float | None
    thinking: bool = False


@dataclass(frozen=True, slots=True)
class Pace:
    per_second: float | None


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


@dataclass(frozen=True, slots=True)
class Hold:
    name: str


@dataclass(frozen=True, slots=True)
class Split:
    characters: int


@dataclass(frozen=True, slots=True)
class Raw:
    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Finish:
    label: str


@dataclass(frozen=True, slots=True)
class Fault:
    """`times` None means at every attempt."""

    kind: str
    status: int = 0
    retry_after: str = ""
    message: str = ""
    times: int | None = None


Directive = Say | Call | Tokens | Pace | Wait | Hold | Split | Raw | Usage | Finish | Fault
Step = tuple[Directive, ...]

_FENCE = re.compile(r"```script[ \t]*\n(.*?)```", re.DOTALL)
_LINE = re.compile(r"^\s*([a-z][a-z-]*):[ \t]?(.*)$")
_RATE = re.compile(r"^(\d+(?:\.\d+)?)\s*/\s*s$")
_TOKENS = re.compile(r"^(\d+)(?:\s*@\s*(\S+))?$")
_NAME = re.compile(r"^[A-Za-z0-9-]{1,64}$")
_TIMES = re.compile(r"\s+times\s+(\d+)$")


def find(message: str) -> tuple[Step, ...] | None:
    """The steps of the script inside a person's message, None where it holds none.

    Raises `ScriptError` for a script that cannot be read.
    """
    fenced = _FENCE.search(message)
    if fenced:
        return parse(fenced.group(1))
    lines = message.splitlines()
    for start, line in enumerate(lines):
        if _directive_name(line) is None:
            continue
        stop = start
        while stop < len(lines) and (not lines[stop].strip() or _directive_name(lines[stop])):
            stop += 1
        return parse("\n".join(lines[start:stop]))
    return None


def parse(text: str) -> tuple[Step, ...]:
    """The steps of a script text. Raises `ScriptError` naming the first line that is wrong."""
    steps: list[list[Directive]] = [[]]
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        matched = _LINE.match(line)
        name = matched.group(1) if matched else ""
        if name == "then":
            steps.append([])
            continue
        reader = _READERS.get(name)
        if matched is None or reader is None:
            raise ScriptError(f"script, line {number}: no such directive")
        try:
            steps[-1].append(reader(matched.group(2).strip()))
        except (ValueError, JSONDecodeError) as error:
            raise ScriptError(f"script, line {number}: {error}") from None
    return tuple(tuple(step) for step in steps)


def _directive_name(line: str) -> str | None:
    matched = _LINE.match(line)
    if matched is None:
        return None
    name = matched.group(1)
    return name if name in _READERS or name == "then" else None


def _text(value: str) -> str:
    if not value.startswith('"'):
        return value
    text = loads(value)
    if not isinstance(text, str):
        raise ValueError("expected a string in double quotes")
    return text


def _rate(value: str) -> float | None:
    if not value:
        return None
    matched = _RATE.match(value)
    if matched is None or float(matched.group(1)) <= 0:
        raise ValueError("a speed looks like 30/s")
    return float(matched.group(1))


def _tokens(thinking: bool) -> Callable[[str], Tokens]:
    def read(value: str) -> Tokens:
        matched = _TOKENS.match(value)
        if matched is None or int(matched.group(1)) > MAX_TOKENS:
            raise ValueError("tokens look like 500 or 500 @ 30/s")
        return Tokens(int(matched.group(1)), _rate(matched.group(2) or ""), thinking)

    return read


def _call(value: str) -> Call:
    name, _, arguments = value.partition(" ")
    text = arguments.strip() or "{}"
    if not name or not isinstance(loads(text), dict):
        raise ValueError("a call is a tool name and a JSON object")
    return Call(name, text)


def _raw_call(value: str) -> Call:
    name, _, arguments = value.partition(" ")
    if not name:
        raise ValueError("a call is a tool name and argument text")
    return Call(name, _text(arguments.strip()))


def _wait(value: str) -> Wait:
    seconds = float(value)
    if not 0 <= seconds <= MAX_WAIT_S:
        raise ValueError(f"a pause lasts 0 to {MAX_WAIT_S:.0f} seconds")
    return Wait(seconds)


def _hold(value: str) -> Hold:
    if not _NAME.match(value):
        raise ValueError("a hold has a name of letters, digits and hyphens")
    return Hold(value)


def _split(value: str) -> Split:
    characters = int(value)
    if characters < 1:
        raise ValueError("a piece has at least one character")
    return Split(characters)


def _usage(value: str) -> Usage:
    prompt, completion = (int(word) for word in value.split())
    return Usage(prompt, completion)


def _fault(value: str) -> Fault:
    times: int | None = None
    counted = _TIMES.search(value)
    if counted:
        times = int(counted.group(1))
        value = value[: counted.start()]
    kind, _, rest = value.partition(" ")
    if kind not in FAULT_KINDS:
        raise ValueError(f"a fault is one of: {', '.join(sorted(FAULT_KINDS))}")
    if kind != "status":
        return Fault(kind, message=rest.strip(), times=times)
    number, _, extra = rest.strip().partition(" ")
    status = int(number)
    if not 100 < status < 600:
        raise ValueError("a status is an HTTP status code")
    label, _, hint = extra.strip().partition(" ")
    if label not in ("", "retry-after", "message"):
        raise ValueError("after the status only retry-after or message may follow")
    hint = hint.strip()
    if label == "message":
        return Fault(kind, status=status, message=hint, times=times)
    return Fault(kind, status=status, retry_after=hint, times=times)


_READERS: dict[str, Callable[[str], Directive]] = {
    "say": lambda value: Say(_text(value)),
    "think": lambda value: Say(_text(value), thinking=True),
    "call": _call,
    "call-raw": _raw_call,
    "tokens": _tokens(thinking=False),
    "think-tokens": _tokens(thinking=True),
    "pace": lambda value: Pace(_rate(value)),
    "wait": _wait,
    "hold": _hold,
    "split": _split,
    "raw": lambda value: Raw(_text(value)),
    "usage": _usage,
    "finish": lambda value: Finish(value),
    "fault": _fault,
}

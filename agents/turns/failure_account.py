"""What a member reads when the last thing a turn did was a change that failed: written here, not
by the model, and never with output of a tool quoted as it came.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from agents.turns.actions import Action
from agents.turns.formats import of_file
from audit.limits import limit
from tools.boundary.redaction import readable

CAUSE_CHARACTERS = limit(
    "turn.failure_cause", 200, "characters", "Length of the cause told for a change that failed."
)
INSTALL_FAILED: Final = "dependency_install_failed"
WITHOUT_CAUSE: Final = "the tool reported an error"

_ESCAPES: Final = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours and cursor movements
    "|(?:\x1b\\]|\x9d).*?(?:\x07|\x1b\\\\|\x9c|$)"  # titles and links
    "|\x1b[ -/]*[0-~]",
    re.DOTALL,
)
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_PATH: Final = re.compile(
    r"file://\S+|(?<![\w/:.~-])~?(?:/[\w.@+~-]+)+/?|\b[A-Za-z]:\\[^\s\"']+|\\\\[\w.$-]+\\[^\s\"']+"
)
_EXCEPTION: Final = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning)\b.*")
_SERIALISED: Final = re.compile(r"""^[\[{(<]|["']\s*:\s|\{["']|\\n|^Traceback""")


def account(action: Action) -> str:
    """One or two sentences about a failed write, the cause on the same line."""
    if action.is_unknown:
        return f"It is unknown whether {_subject(action)} was done. Check it before you retry."
    if action.outcome == "denied":
        return f"{_subject(action)} was not done. {_sentence(_line(action.told))}".rstrip()
    return f"{_statement(action)}: {cause(action.payload) or WITHOUT_CAUSE}".rstrip(".") + "."


def cause(payload: dict[str, Any]) -> str:
    """Why a call failed, on one line; empty without a readable cause.

    The first that is there: a structured error, the first diagnostic of the sandbox, a failed
    installation of a dependency, the exception that closes the error output.
    """
    for candidate in _candidates(payload):
        line = _line(candidate)
        if line and not _SERIALISED.search(line):
            return line
    return ""


def _candidates(payload: dict[str, Any]) -> Iterator[str]:
    error = payload.get("error")
    if isinstance(error, dict):
        yield from (error[key] for key in ("message", "detail") if isinstance(error.get(key), str))
    elif isinstance(error, str):
        yield error
    if isinstance(payload.get("message"), str):
        yield _first_sentence(payload["message"])  # what follows tells the model what to do
    diagnostics = payload.get("diagnostics")
    if isinstance(diagnostics, list) and diagnostics:
        first = diagnostics[0]
        text = first.get("message") if isinstance(first, dict) else first
        if isinstance(text, str):
            yield text
    stderr = payload.get("stderr")
    if isinstance(stderr, str):
        yield from _of_stderr(stderr)


def _of_stderr(stderr: str) -> Iterator[str]:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    closing = next((line for line in reversed(lines) if _EXCEPTION.match(line)), "")
    if lines and lines[0].startswith(INSTALL_FAILED) and not closing:
        _, _, detail = lines[0].partition(":")
        yield detail.strip() or "a package it needs could not be installed"
    if closing and lines[-1] == closing:
        yield closing


def _line(text: str) -> str:
    """One bounded line without escapes, control characters, credentials or paths of a host."""
    text = _CONTROL.sub(" ", _ESCAPES.sub("", text))
    text = _PATH.sub(lambda match: re.split(r"[/\\]", match[0].rstrip("/\\"))[-1], readable(text))
    text = " ".join(text.split())
    if len(text) > CAUSE_CHARACTERS:
        return text[: CAUSE_CHARACTERS - 1].rstrip() + "…"
    return text


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s", text.strip(), maxsplit=1)[0]


def _statement(action: Action) -> str:
    """What did not happen."""
    if action.is_repeat:
        name = f" to {_line(action.targets[0])}" if action.targets else ""
        return f"The change{name} was not applied"
    if action.targets:
        name = _line(action.targets[0])
        kind = of_file(name)
        return f"I couldn't create the {f'{kind} ' if kind else ''}file {name}"
    return f"{_subject(action)} did not work"


def _subject(action: Action) -> str:
    return f"“{_line(action.label)}”"


def _sentence(text: str) -> str:
    return text if not text or text[-1] in ".!?…" else f"{text}."

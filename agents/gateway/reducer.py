"""From the chunks of one streamed completion to typed events and one outcome. Pure.

This is the hottest code of the product: it sees every token. Pieces that arrive in one network
read leave as one delta, because nobody can tell them apart in time.
"""

import json
from typing import Any

import orjson

from agents.gateway import arguments, failures, parts, usage
from agents.gateway.events import (
    CallRefusal,
    Completed,
    End,
    ModelToolCall,
    ProviderFailure,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
)
from agents.gateway.fragments import CallJoiner, TooManyCalls
from agents.gateway.sse import END_MARK
from agents.gateway.thinking import TagSplitter
from audit.limits import limit

# The model came to its own end: what was streamed decides between an answer and calls.
NORMAL_LABELS = frozenset(
    {
        "stop",
        "tool_calls",
        "tool_call",
        "function_call",
        "tool_use",
        "end_turn",
        "stop_sequence",
        "eos",
        "eos_token",
        "end",
        "complete",
        "completed",
    }
)
# The output limit struck; nothing the model was about to do counts.
LENGTH_LABELS = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "max_length", "incomplete"}
)
# The provider stopped the answer for its content.
FILTER_LABELS = frozenset(
    {
        "content_filter",
        "content_filtered",
        "safety",
        "recitation",
        "refusal",
        "blocklist",
        "prohibited_content",
        "spii",
        "sensitive",
        "guardrail_intervened",
    }
)
# The provider gave up.
BROKEN_LABELS = frozenset(
    {
        "error",
        "abort",
        "aborted",
        "cancelled",
        "failed",
        "network_error",
        "timeout",
        "insufficient_system_resource",
    }
)
# `index`, `delta` and `finish_reason`; servers add members of their own.
PLAIN_CHOICE_MEMBERS = 3
BINDING_LABELS = LENGTH_LABELS | FILTER_LABELS | BROKEN_LABELS
# The first and only answer, however its index is written.
FIRST = (0, None, "0")
# Codes beside a message that is none about an error.
NO_ERROR = (None, "", 0, 200, "0", "200", "ok", "success")
# Where servers put thinking, the commonest first.
THINKING_MEMBERS = (
    "reasoning_content",
    "reasoning",
    "reasoning_text",
    "reasoning_details",
    "thinking",
)

# Far over what models can say at once; more would be a page that no browser opens any more.
MAX_CHARACTERS = limit(
    "model.text", 800_000, "characters", "Length of one model answer with its thinking."
)


class Reducer:
    """One attempt. `feed` it payloads, `flush` it at the end, then ask for the `outcome`."""

    def __init__(self, *, inline_think_tags: bool, reasoning_starts_open: bool) -> None:
        self.done = False
        self.failure: ProviderFailure | None = None
        self.junk = 0
        self._label = ""
        self._binding = False  # whether the label is one that no later one takes back
        self._chunks = 0
        self._splitter = (
            TagSplitter(starts_open=reasoning_starts_open) if inline_think_tags else None
        )
        self._joiner = CallJoiner()
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._characters = 0  # of both
        self._usage: Any = None
        self._leading_blank: str | None = ""  # None once the answer has begun
        self._torn: dict[bool, str] | None = None  # only after a chunk with half a character
        self._plain = False  # answer text needs no further look
        self._run: list[str] = []
        self._run_thinks = False
        self._events: list[StreamEvent] = []

    @property
    def ended(self) -> bool:
        """Whether the server said that the answer is over."""
        return self.done or bool(self._label)

    def feed(self, payloads: list[bytes]) -> list[StreamEvent]:
        """The events that some payloads bring."""
        for payload in payloads:
            if self.done or self.failure is not None:
                break
            try:
                chunk = orjson.loads(payload)
            except orjson.JSONDecodeError:
                chunk = self._odd(payload)
            if chunk is not None:
                self._chunk(chunk)
        return self._taken()

    def fail(self, payload: bytes) -> None:
        """Take the payload of an event that is named an error."""
        error = _lenient(payload)
        inner = _error_in(error) if isinstance(error, dict) else None
        self.failure = self.failure or failures.from_frame(inner or error)

    def stray(self, text: bytes) -> None:
        """Take what a body held instead of events: an error there is still an error."""
        error = _lenient(text)
        if not self._chunks and isinstance(error, dict) and _error_in(error):
            self.failure = self.failure or failures.from_frame(_error_in(error))

    def flush(self) -> list[StreamEvent]:
        """What was held back, once nothing follows."""
        for thinks in tuple(self._torn or ()):
            self._torn = None
            self._piece("\N{REPLACEMENT CHARACTER}", thinks=thinks)
        if self._splitter is not None:
            thinking, text = self._splitter.close()
            self._say(thinking, thinks=True)
            self._answer(text)
        return self._taken()

    def outcome(self, broken: ProviderFailure | None = None) -> Completed:
        """How the attempt ended. `broken` is a fault of the transport; it no longer matters once
        the server had said that the answer is over.
        """
        text = "".join(self._text)
        failure = self.failure or (None if self.ended else broken or self._unfinished())
        label = self._label.lower()
        if failure is None:
            failure = self._failed_by_label(label, text)
        calls: tuple[ModelToolCall, ...] = ()
        end: End = "failed"
        if failure is None:
            calls = self._calls(cut=label in LENGTH_LABELS)
            end = "tool_calls" if calls else "complete"
            if label in LENGTH_LABELS:
                end = "truncated"
        thinking = "".join(self._thinking)
        return Completed(text, thinking, calls, end, usage.read(self._usage), failure)

    def _unfinished(self) -> ProviderFailure:
        if not self._chunks and self.junk:
            return failures.garbage(retryable=True)
        return failures.cut_off()

    def _failed_by_label(self, label: str, text: str) -> ProviderFailure | None:
        if label in LENGTH_LABELS:
            return None
        if label in FILTER_LABELS:
            return failures.content_filtered()
        if label in BROKEN_LABELS:
            return failures.cut_off()
        if not label or label in NORMAL_LABELS:
            return None
        if self._joiner:
            return failures.garbage(retryable=True)
        # An unknown label may mean anything; with text there is an answer all the same.
        return None if text else failures.empty_response()

    def _calls(self, *, cut: bool) -> tuple[ModelToolCall, ...]:
        joined = self._joiner.joined()
        if cut:
            return tuple(
                arguments.refused(call.id, call.name, call.raw, CallRefusal.TRUNCATED)
                for call in joined
            )
        return tuple(arguments.call(call.id, call.name, call.raw) for call in joined)

    def _odd(self, payload: bytes) -> Any:
        """A payload the fast reader refuses: the end mark, half a character, NaN or junk."""
        if payload == END_MARK:
            self.done = True
            return None
        try:
            chunk = json.loads(payload.decode(errors="replace"))
        except (ValueError, RecursionError):
            self.junk += 1
            return None
        if self._torn is None:
            self._torn = {}
            self._plain = False
        return chunk

    def _chunk(self, chunk: Any) -> None:
        if not isinstance(chunk, dict):
            self.junk += 1
            return
        choices = chunk.get("choices")
        if not choices or "error" in chunk:
            error = _error_in(chunk)
            if error:
                self.failure = failures.from_frame(error)
                return
            self._report(_aside(chunk))
        report = chunk.get("usage")
        if report:
            self._report(report)
        self._chunks += 1
        if type(choices) is list:
            for choice in choices:
                # Only one answer was asked for; others that come all the same are not mixed in.
                if type(choice) is dict and choice.get("index") in FIRST:
                    self._choice(choice)

    def _choice(self, choice: dict[str, Any]) -> None:
        delta = choice.get("delta")
        if delta is None:
            delta = self._whole_message(choice)
        if type(delta) is dict:
            content = delta.get("content")
            if self._plain and len(delta) == 1 and type(content) is str:
                # The common token: nothing but answer text, in the middle of an answer.
                self._say(content, thinks=False)
            else:
                self._delta(delta, content)
        label = choice.get("finish_reason")
        if label:
            self._ends(str(label))
        if len(choice) > PLAIN_CHOICE_MEMBERS:
            self._report(choice.get("usage"))
            if choice.get("error"):
                self.failure = self.failure or failures.from_frame(choice["error"])

    def _ends(self, label: str) -> None:
        """Take a finish label. Servers repeat themselves, some with a plain stop at the very end:
        that the output was cut or withheld stays true.
        """
        if not self._binding:
            self._label = label
            self._binding = label.lower() in BINDING_LABELS

    def _report(self, report: Any) -> None:
        """Take a usage report: running totals, of which the last counts, member by member. A total
        does not fall back to nothing, so a closing zero is no report.
        """
        if isinstance(report, dict):
            held = self._usage or {}
            said = {name: value for name, value in report.items() if value or name not in held}
            self._usage = {**held, **said}

    def _delta(self, delta: dict[str, Any], content: Any) -> None:
        if len(delta) > 1 or content is None:
            self._own_thinking(delta)
        if type(content) is str:
            self._piece(content, thinks=False)
        elif content:
            for said, thinks in parts.pieces(content):
                self._piece(said, thinks=thinks)
        if delta.get("refusal"):
            self._ends("refusal")
        fragments = delta.get("tool_calls")
        if fragments:
            self._fragments(fragments)
        elif delta.get("function_call"):
            self._fragments([{"index": 0, "function": delta["function_call"]}])

    def _own_thinking(self, delta: dict[str, Any]) -> None:
        """Take thinking that has a member of its own; it may stand under several names."""
        values = filter(None, map(delta.get, THINKING_MEMBERS))
        if said := next(filter(None, map(parts.text, values)), ""):
            if self._splitter is not None:
                self._splitter.answer_only()
            self._piece(said, thinks=True)

    def _whole_message(self, choice: dict[str, Any]) -> Any:
        """The message of a server that does not stream; not a closing summary of what it did."""
        if self._text or self._run or self._joiner:
            return None
        return choice.get("message")

    def _fragments(self, fragments: Any) -> None:
        if isinstance(fragments, dict):
            fragments = [fragments]
        if not isinstance(fragments, list):
            return
        try:
            for fragment in fragments:
                self._joiner.add(fragment)
        except TooManyCalls:
            self.failure = failures.garbage(retryable=False)

    def _piece(self, piece: str, *, thinks: bool) -> None:
        if self._torn is not None:
            piece = self._mended(piece, thinks)
        if thinks:
            self._say(piece, thinks=True)
        elif self._splitter is None:
            self._answer(piece)
        else:
            thinking, text = self._splitter.feed(piece)
            self._say(thinking, thinks=True)
            self._answer(text)

    def _mended(self, piece: str, thinks: bool) -> str:
        """Join halves of a character that the server sent in two chunks."""
        torn = self._torn if self._torn is not None else {}
        whole = torn.pop(thinks, "") + piece
        if whole and "\ud800" <= whole[-1] <= "\udbff":
            torn[thinks] = whole[-1]
            whole = whole[:-1]
        return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def _answer(self, piece: str) -> None:
        """Blank lines before the answer are held until it begins: blanks alone are no answer."""
        if self._leading_blank is not None:
            piece = self._leading_blank + piece
            if not piece or piece.isspace():
                self._leading_blank = piece
                return
            self._leading_blank = None
            self._plain = self._splitter is None and self._torn is None
        self._say(piece, thinks=False)

    def _say(self, piece: str, *, thinks: bool) -> None:
        if not piece:
            return
        if self._run and thinks is not self._run_thinks:
            self._close_run()
        self._run_thinks = thinks
        self._run.append(piece)

    def _close_run(self) -> None:
        said = self._run[0] if len(self._run) == 1 else "".join(self._run)
        self._run.clear()
        room = MAX_CHARACTERS - self._characters
        if len(said) > room:
            said = said[:room]
            self.failure = self.failure or failures.garbage(retryable=False)
        self._characters += len(said)
        if not said:
            return
        if self._run_thinks:
            self._thinking.append(said)
            self._events.append(ThinkingDelta(said))
        else:
            self._text.append(said)
            self._events.append(TextDelta(said))

    def _taken(self) -> list[StreamEvent]:
        if self._run:
            self._close_run()
        if self._joiner.touched:
            self._events.extend(self._joiner.deltas())
        events, self._events = self._events, []
        return events


def _lenient(text: bytes) -> Any:
    try:
        return json.loads(text.decode(errors="replace"))
    except (ValueError, RecursionError):
        return ""


def _error_in(chunk: dict[str, Any]) -> Any:
    """What a frame reports as an error, in any of the shapes servers give it; None without one."""
    for name in ("error", "errors", "error_message"):
        if chunk.get(name):
            return chunk[name]
    if chunk.get("choices") is not None:
        return None
    if chunk.get("object") == "error" or chunk.get("type") == "error":
        return chunk
    if chunk.get("detail"):
        return chunk
    words = chunk.get("message") or chunk.get("msg")
    return chunk if isinstance(words, str) and chunk.get("code") not in NO_ERROR else None


def _aside(chunk: dict[str, Any]) -> Any:
    """The usage report of a server that keeps it under a member of its own."""
    own = chunk.get("x_groq")
    return own.get("usage") if isinstance(own, dict) else None

"""The messages a model sees, rebuilt from the journal.

What has been read of a conversation never changes, so it is kept and only newer entries are
fetched. Runs form a tree by what their inputs follow on; a model sees the way from the root to
its run. Runs stay together in that order, whatever was queued meanwhile.
"""

import sys
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Final, Optional
from uuid import UUID

from agents.journal import replay
from agents.journal.frames import Kind
from agents.turns.window import (
    CHARACTERS_PER_TOKEN,
    KEPT_TOKENS,
    characters_of,
    estimate,
    is_full,
    is_worth_it,
)
from audit.reasons import Reason

CACHED_CONVERSATIONS: Final = 512  # per worker process
CACHED_CHARACTERS: Final = 1_000_000  # a longer conversation is read anew each time
KINDS: Final = [
    str(kind)
    for kind in (
        Kind.INPUT_ACCEPTED,
        Kind.ASSISTANT_MESSAGE,
        Kind.TOOL_STARTED,
        Kind.TOOL_ENDED,
        Kind.STEER_ACCEPTED,
        Kind.STEER_APPLIED,
        Kind.STEER_REJECTED,
        Kind.QUEUE_CHANGED,
        Kind.COMPACTION,
        Kind.AGENT_RUN_CANCELLED,
    )
]
INTERRUPTED: Final = '{"error":"The call was interrupted; its outcome is unknown."}'
SUMMARY: Final = "Summary of what was said before:\n\n"
# Ends of inputs that were taken back before anybody worked them.
TAKEN_BACK: Final = frozenset({str(Reason.WITHDRAWN), str(Reason.STEERED)})

Message = dict[str, Any]


@dataclass
class RunMessages:
    """One run's part of the conversation.

    `before` is the run it follows on. `messages` are what was asked and said, `results` the
    results of calls. Where `summary` is set it stands for everything before this run's messages.
    `told` holds steers accepted for the run and not yet settled.
    """

    before: Optional["RunMessages"] = None
    messages: list[Message] = field(default_factory=list)
    step: int = 0
    results: dict[str, str] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    summary: str | None = None

    def apply(self, kind: str, data: Any, private: Any) -> int:
        """Add one entry after the run's acceptance; answers how many characters it brought."""
        private = private or {}
        if private.get("excluded"):
            return 0
        match kind:
            case Kind.ASSISTANT_MESSAGE:
                self.step = private.get("step", 0)
                return self._say("assistant", data["text"])
            case Kind.TOOL_STARTED:
                return self._add_call(data, private)
            case Kind.TOOL_ENDED:
                self.results[data["call_id"]] = private["model_view"]
                return len(private["model_view"])
            case Kind.STEER_ACCEPTED:
                self.told.add(data["steer_id"])
            case Kind.STEER_REJECTED:
                self.told.discard(data["steer_id"])
            case Kind.STEER_APPLIED:
                self.told.discard(data["steer_id"])
                return self._say("user", private["message"])
            case Kind.COMPACTION:
                return self.sum_up(private["summary"])
            case Kind.QUEUE_CHANGED if "message" in private:
                self.messages[:1] = [{"role": "user", "content": private["message"]}]
                return len(private["message"])
            case Kind.AGENT_RUN_CANCELLED if data["reason"] in TAKEN_BACK:
                self.messages = []
        return 0

    def _say(self, role: str, text: str) -> int:
        self.messages.append({"role": role, "content": text})
        return len(text)

    def sum_up(self, summary: str) -> int:
        """From here on the summary stands for all that was said, but not for what was asked."""
        self.summary = summary
        self.messages = [message for message in self.messages if message["role"] == "user"]
        return len(summary)

    def _add_call(self, data: Any, private: Any) -> int:
        last = self.messages[-1] if self.messages else None
        if last is None or last["role"] != "assistant" or self.step != private["step"]:
            last = {"role": "assistant", "content": None}
            self.messages.append(last)
            self.step = private["step"]
        last.setdefault("tool_calls", []).append(
            {
                "id": data["call_id"],
                "type": "function",
                "function": {"name": data["name"], "arguments": private["arguments"]},
            }
        )
        return len(private["arguments"])

    def complete(self) -> list[Message]:
        """The run's messages, each call followed by its result in the order of the calls.

        A call that never got one has a stand-in, which is nowhere kept.
        """
        messages: list[Message] = []
        for message in self.messages:
            messages.append(message)
            for call in message.get("tool_calls", ()):
                result = self.results.get(call["id"], INTERRUPTED)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        return messages


@dataclass
class Transcript:
    """What has been read of one conversation so far."""

    position: int = 0
    characters: int = 0
    runs: dict[UUID, RunMessages] = field(default_factory=dict)
    of_input: dict[str, RunMessages] = field(default_factory=dict)
    newest: RunMessages | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def read_on(self, conversation_id: UUID) -> None:
        """Add what is newer than what is known."""
        for row in replay.for_model(conversation_id, self.position, KINDS):
            if row.kind == Kind.INPUT_ACCEPTED:
                self.characters += self._accept(row)
            elif row.run_id in self.runs:
                run = self.runs[row.run_id]
                self.characters += run.apply(row.kind, row.data, row.private)
            self.position = row.position

    def _accept(self, row: replay.Row) -> int:
        """A run of its own; inputs from before branches follow on the one accepted before."""
        run = self.runs[row.run_id] = RunMessages()
        if "parent" in row.data:
            run.before = self.of_input.get(row.data["parent"])
        else:
            run.before = self.newest
        self.newest = self.of_input[str(row.input_id)] = run
        if row.data.get("kind", "message") != "message":
            return 0
        run.messages.append({"role": "user", "content": row.data["message"]})
        return len(row.data["message"])


@dataclass(frozen=True)
class History:
    """What a model sees of the conversation, oldest first.

    `is_crowded` says that it is time to sum it up, or that the oldest messages had to be left out;
    `is_told` that the run has been told something it has not taken up yet.
    """

    messages: list[Message]
    is_crowded: bool
    is_told: bool

    @property
    def tokens(self) -> int:
        """The estimate of what the messages cost."""
        return estimate(self.messages)


class Transcripts:
    """A process's cache of transcripts; safe to use from several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[UUID, Transcript] = OrderedDict()
        self._lock = threading.Lock()

    def history(self, conversation_id: UUID, run_id: UUID, *, budget_characters: int) -> History:
        """History up to and including the run, newest kept within the budget."""
        transcript = self._transcript(conversation_id)
        with transcript.lock:
            transcript.read_on(conversation_id)
            found = _history(transcript.runs[run_id], budget_characters)
            if transcript.characters > CACHED_CHARACTERS:
                self._forget(conversation_id)
        return found

    def whole(self, conversation_id: UUID, run_id: UUID) -> list[Message]:
        """All that was said on the run's branch since it was summed up last, however long."""
        transcript = self._transcript(conversation_id)
        with transcript.lock:
            transcript.read_on(conversation_id)
            return _history(transcript.runs[run_id], sys.maxsize).messages

    def summed_up(
        self, conversation_id: UUID, run_id: UUID, summary: str, *, budget_characters: int
    ) -> History:
        """What `history` would be if the run were summed up like this."""
        transcript = self._transcript(conversation_id)
        with transcript.lock:
            mine = transcript.runs[run_id]
            copy = RunMessages(before=mine.before, messages=list(mine.messages))
            copy.sum_up(summary)
            return _history(copy, budget_characters)

    def _transcript(self, conversation_id: UUID) -> Transcript:
        with self._lock:
            transcript = self._kept.get(conversation_id)
            if transcript is None:
                transcript = self._kept[conversation_id] = Transcript()
                if len(self._kept) > CACHED_CONVERSATIONS:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(conversation_id)
            return transcript

    def _forget(self, conversation_id: UUID) -> None:
        with self._lock:
            self._kept.pop(conversation_id, None)


def _history(mine: RunMessages, budget: int) -> History:
    """Walk back along the branch until a summary, the root, or the end of the budget."""
    run, chosen = mine, [mine.complete()]
    left = budget - characters_of(chosen[0])
    fresh = characters_of(message for message in chosen[0] if message["role"] != "user")
    is_cut = False
    while run.summary is None and run.before is not None and not is_cut:
        messages = run.before.complete()
        size = characters_of(messages)
        fresh += size
        is_cut = size > left
        if not is_cut:
            run, left = run.before, left - size
            chosen.append(messages)
    if run.summary is not None:
        summed_up = _summed_up(run, left)
        left -= characters_of(summed_up)
        chosen.append(summed_up)
    return History(
        messages=[message for messages in reversed(chosen) for message in messages],
        is_crowded=(is_cut or is_full(budget - left, budget)) and is_worth_it(fresh, budget),
        is_told=bool(mine.told),
    )


def _summed_up(run: RunMessages, left: int) -> list[Message]:
    """What stands for everything before a run: what was asked last, word for word, and the summary.

    The oldest message kept may be cut.
    """
    assert run.summary is not None, "only asked for a run with a summary"
    room = min(KEPT_TOKENS * CHARACTERS_PER_TOKEN, (left - len(run.summary)) // 2)
    kept: list[Message] = []
    before = run.before
    while before is not None and room > 0:
        for message in reversed(before.messages):
            if message["role"] == "user" and room > 0:
                kept.append({"role": "user", "content": message["content"][:room]})
                room -= len(message["content"])
        before = before.before
    return [*reversed(kept), {"role": "assistant", "content": SUMMARY + run.summary}]

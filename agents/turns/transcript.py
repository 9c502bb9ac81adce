"""The messages a model sees, rebuilt from the journal.

A conversation's past never changes, so what has been read once is kept and only newer entries
are fetched. Runs stay together in the order their inputs were accepted, whatever was queued
meanwhile.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from agents.journal import replay
from agents.journal.frames import Kind

CACHED_CONVERSATIONS: Final = 512  # per worker process
CACHED_CHARACTERS: Final = 1_000_000  # a longer conversation is read anew each time
CHARACTERS_PER_TOKEN: Final = 3  # cautious for English and code; exact counts are the provider's
MINIMUM_CHARACTERS: Final = 4_000
KINDS: Final = [
    str(kind)
    for kind in (
        Kind.INPUT_ACCEPTED,
        Kind.ASSISTANT_MESSAGE,
        Kind.TOOL_STARTED,
        Kind.TOOL_ENDED,
    )
]
INTERRUPTED: Final = '{"error":"The call was interrupted; its outcome is unknown."}'

Message = dict[str, Any]


@dataclass
class RunMessages:
    """One run's part of the conversation."""

    accepted_position: int = 0
    messages: list[Message] = field(default_factory=list)
    step: int = 0
    unanswered: dict[str, None] = field(default_factory=dict)

    def apply(self, position: int, kind: str, data: Any, private: Any) -> int:
        """Add one entry; answers how many characters it brought."""
        if kind == Kind.INPUT_ACCEPTED:
            self.accepted_position = position
            self.messages.append({"role": "user", "content": data["message"]})
            return len(data["message"])
        private = private or {}
        if private.get("excluded"):
            return 0
        if kind == Kind.ASSISTANT_MESSAGE:
            self.step = private.get("step", 0)
            self.messages.append({"role": "assistant", "content": data["text"]})
            return len(data["text"])
        if kind == Kind.TOOL_STARTED:
            return self._add_call(data, private)
        self.unanswered.pop(data["call_id"], None)
        self.messages.append(_tool_message(data["call_id"], private["model_view"]))
        return len(private["model_view"])

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
        self.unanswered[data["call_id"]] = None
        return len(private["arguments"])

    def complete(self) -> list[Message]:
        """The run's messages with a stand-in result for every call that never got one."""
        if not self.unanswered:
            return self.messages
        messages: list[Message] = []
        for message in self.messages:
            messages.append(message)
            for call in message.get("tool_calls", ()):
                if call["id"] in self.unanswered:
                    messages.append(_tool_message(call["id"], INTERRUPTED))
        return messages


@dataclass
class Transcript:
    """What has been read of one conversation so far."""

    position: int = 0
    characters: int = 0
    runs: dict[UUID, RunMessages] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Transcripts:
    """A process's cache of transcripts; safe to use from several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[UUID, Transcript] = OrderedDict()
        self._lock = threading.Lock()

    def messages(
        self, conversation_id: UUID, run_id: UUID, *, budget_characters: int
    ) -> list[Message]:
        """History up to and including the run, oldest first, newest kept within the budget."""
        transcript = self._transcript(conversation_id)
        with transcript.lock:
            _read_on(conversation_id, transcript)
            mine = transcript.runs[run_id]
            earlier = [
                run
                for run in transcript.runs.values()
                if 0 < run.accepted_position < mine.accepted_position
            ]
            chosen = [mine.complete()]
            left = budget_characters - _characters(chosen[0])
            for run in sorted(earlier, key=lambda run: run.accepted_position, reverse=True):
                messages = run.complete()
                left -= _characters(messages)
                if left < 0:
                    break
                chosen.append(messages)
            if transcript.characters > CACHED_CHARACTERS:
                self._forget(conversation_id)
        return [message for messages in reversed(chosen) for message in messages]

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


def budget_characters(context_window: int, max_output_tokens: int) -> int:
    """How much history fits beside the system prompt and the answer."""
    tokens = context_window - max_output_tokens - context_window // 8
    return max(MINIMUM_CHARACTERS, tokens * CHARACTERS_PER_TOKEN)


def _read_on(conversation_id: UUID, transcript: Transcript) -> None:
    for row in replay.for_model(conversation_id, transcript.position, KINDS):
        run = transcript.runs.setdefault(row.run_id, RunMessages())
        transcript.characters += run.apply(row.position, row.kind, row.data, row.private)
        transcript.position = row.position


def _tool_message(call_id: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def _characters(messages: list[Message]) -> int:
    return sum(
        len(message["content"] or "")
        + sum(len(call["function"]["arguments"]) for call in message.get("tool_calls", ()))
        for message in messages
    )

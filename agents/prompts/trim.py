"""A model's copy of a person's message that would not fit beside what stands with it.

Only the copy is shortened: the journal and the page keep the message as it was written.
"""

from collections.abc import Sequence
from typing import Any, Final

SMALLEST_SHARE: Final = 1 / 2  # of the room, for a message, however much stands beside it
HEAD_SHARE: Final = 2 / 3  # of what is kept; what is wanted mostly stands first, or else last

Message = dict[str, Any]


def fitted(messages: Sequence[Message], room: int) -> list[Message]:
    """The messages, the person's longest one shortened where all would take more than `room`
    characters. The messages themselves are not changed.
    """
    taken = sum(len(message.get("content") or "") for message in messages)
    asked = [at for at, message in enumerate(messages) if message["role"] == "user"]
    if taken <= room or not asked:
        return list(messages)
    longest = max(asked, key=lambda at: len(messages[at]["content"]))
    message = messages[longest]
    text = message["content"]
    kept = max(round(room * SMALLEST_SHARE), room - (taken - len(text)))
    copy = {**message, "content": trimmed(text, kept)}
    return [*messages[:longest], copy, *messages[longest + 1 :]]


def trimmed(text: str, room: int) -> str:
    """The text, or its beginning and end with a note of how much is missing between them."""
    if len(text) <= room:
        return text
    head = round(room * HEAD_SHARE)
    note = f"[… {len(text) - room:,} characters of this message are left out here …]"
    return f"{text[:head].rstrip()}\n{note}\n{text[len(text) - (room - head) :].lstrip()}"

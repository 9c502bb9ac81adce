"""Clients that ask and write down when every word arrived. The same for the relay and for us."""

import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

import aiohttp
import orjson

WORD: Final = re.compile(r"(\d{10,20}) ")
TERMINALS: Final = ("agent_run_completed", "agent_run_salvaged")
ENDS: Final = (*TERMINALS, "agent_run_failed", "agent_run_cancelled")


@dataclass
class Answer:
    """One answer as it arrived: nanoseconds of the monotonic clock beside raw messages."""

    asked_ns: int = 0
    arrivals: list[tuple[int, str]] = field(default_factory=list)
    words: list[tuple[int, int]] = field(default_factory=list)  # sent, arrived
    completed: bool = False
    ended_ns: int = 0

    def read(self) -> "Answer":
        """Work out the words; done after the measurement, so that it costs nothing in it."""
        text, arrived, known = "", [], 0
        for at, raw in self.arrivals:
            frame = orjson.loads(raw)
            if frame["event"] == "delta" and frame.get("kind", "text") == "text":
                known += len(frame["text"])
                text += frame["text"]
                arrived.append((known, at))
            elif frame["event"] in ENDS:
                self.completed = frame["event"] in TERMINALS
                self.ended_ns = at
                if not self.completed:
                    print(f"an answer ended with {raw}", flush=True)
        self.arrivals.clear()
        place = 0
        for match in WORD.finditer(text):
            while arrived[place][0] < match.end():
                place += 1
            self.words.append((int(match[1]), arrived[place][1]))
        return self

    @property
    def first_word_ms(self) -> float:
        return (self.words[0][1] - self.asked_ns) / 1e6

    @property
    def words_per_s(self) -> float:
        """Speed from the question to the last word."""
        return len(self.words) / (self.words[-1][1] - self.asked_ns) * 1e9

    @property
    def delays_ms(self) -> list[float]:
        return [(arrived - sent) / 1e6 for sent, arrived in self.words]


class Socket:
    """An open socket that can be asked for an amount of words."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, *, governed: bool) -> None:
        self.socket = socket
        self._governed = governed

    async def ask(self, order: str) -> Answer:
        answer = Answer()
        message: dict[str, Any] = {"message": order}
        if self._governed:
            message |= {"type": "input", "kind": "message", "idempotency_key": uuid4().hex}
        raw = orjson.dumps(message).decode()
        answer.asked_ns = time.monotonic_ns()
        await self.socket.send_str(raw)
        keep = answer.arrivals.append
        while True:
            received = await self.socket.receive()
            if received.type is not aiohttp.WSMsgType.TEXT:
                return answer
            keep((time.monotonic_ns(), received.data))
            # Ends are looked for in short frames only: a cheap test for the common piece.
            if '"agent_run_' in received.data and any(
                f'"{name}"' in received.data for name in ENDS
            ):
                return answer


@asynccontextmanager
async def relay(url: str) -> AsyncIterator[Socket]:
    """A socket to the relay."""
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{url}/talk") as socket:
        yield Socket(socket, governed=False)


@asynccontextmanager
async def governed(url: str, conversation_id: object, token: str) -> AsyncIterator[Socket]:
    """A socket to one of our conversations, open and read up to now."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(
            f"{url}/ws/conversations/{conversation_id}?after=999999999",
            protocols=["kaizen.v1", f"bearer.{token}"],
            max_msg_size=0,
        ) as socket,
    ):
        # A reply means that the server has let us in and stands at the newest position.
        await socket.send_str('{"type":"stop","idempotency_key":"hello"}')
        while '"reply"' not in (await socket.receive()).data:
            pass
        yield Socket(socket, governed=True)

"""A byte-exact HTTP server: what it was told to send, in the reads it was told to send it in."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

import orjson

# Long enough for the reader to see one write as one read.
BETWEEN_READS_S = 0.01


@dataclass(frozen=True)
class Reply:
    """One HTTP answer. `end`: close the connection, reset it, or hold it open."""

    reads: Sequence[bytes] = ()
    status: str = "200 OK"
    headers: Sequence[str] = ("Content-Type: text/event-stream",)
    end: Literal["clean", "reset", "hold"] = "clean"
    before_head_s: float = 0.0
    between_reads_s: float = BETWEEN_READS_S


@dataclass
class RawServer:
    """Gives its replies in turn, the last one again and again; keeps what it was asked."""

    replies: list[Reply]
    url: str = ""
    bodies: list[dict] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    closed_by_client: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next(
                int(line.split(":")[1])
                for line in head.splitlines()
                if line.lower().startswith("content-length:")
            )
            self.bodies.append(orjson.loads(await reader.readexactly(length)))
            self.heads.append(head)
            self.asked.set()
            reply = self.replies[min(len(self.bodies), len(self.replies)) - 1]
            await self._send(reply, writer)
            if reply.end == "hold":
                await reader.read()
                self.closed_by_client.set()
        except (ConnectionError, asyncio.IncompleteReadError):
            self.closed_by_client.set()
        finally:
            writer.close()

    async def _send(self, reply: Reply, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(reply.before_head_s)
        head = [f"HTTP/1.1 {reply.status}", *reply.headers, "Connection: close", "", ""]
        writer.write("\r\n".join(head).encode())
        for read in reply.reads:
            await writer.drain()
            await asyncio.sleep(reply.between_reads_s)
            writer.write(read)
        await writer.drain()
        if reply.end == "reset":
            await asyncio.sleep(BETWEEN_READS_S)
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()


@asynccontextmanager
async def serving(*replies: Reply, tls: ssl.SSLContext | None = None) -> AsyncIterator[RawServer]:
    """A server on a free port while the block runs, behind a certificate if one is given."""
    server = RawServer(list(replies))
    listener = await asyncio.start_server(server.answer, "127.0.0.1", 0, limit=2**20, ssl=tls)
    port = listener.sockets[0].getsockname()[1]
    server.url = f"https://localhost:{port}/v1" if tls else f"http://127.0.0.1:{port}/v1"
    try:
        yield server
    finally:
        listener.close()


def events(*chunks: object, done: bool = True) -> bytes:
    """Chunks as an event stream."""
    payloads = [orjson.dumps(chunk) for chunk in chunks] + ([b"[DONE]"] if done else [])
    return b"".join(b"data: " + payload + b"\n\n" for payload in payloads)


def chunk(finish: str | None = None, **delta: object) -> dict:
    """One chunk with one choice."""
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

"""Asking the web process whether everything is up, without ever blocking the supervisor."""

import selectors
import socket
import time

from kaizen.supervision.port import Address

RETRY_S = 0.3
ANSWER_BYTES = 4_096


class Readiness:
    """Asks GET /readyz again and again through the crew's selector until it answers 200."""

    def __init__(self, selector: selectors.BaseSelector, where: Address, host: str) -> None:
        self.ready = False
        self.last_answer = "no answer yet"
        self._selector = selector
        self._where = where
        self._host = host
        self._link: socket.socket | None = None
        self._answer = b""
        self._next_try = 0.0

    def step(self) -> float:
        """Begin a try when one is due; answer the seconds until the next is."""
        now = time.monotonic()
        if self.ready or self._link is not None:
            return RETRY_S
        if now < self._next_try:
            return self._next_try - now
        self._next_try = now + RETRY_S
        request = f"GET /readyz HTTP/1.1\r\nHost: {self._host}\r\nConnection: close\r\n\r\n"
        try:
            link = socket.create_connection(
                (self._where.reachable_host, self._where.port), timeout=1.0
            )
            link.sendall(request.encode())
        except OSError as fault:
            self.last_answer = str(fault)
            return RETRY_S
        link.setblocking(False)
        self._link, self._answer = link, b""
        self._selector.register(link, selectors.EVENT_READ, self._read)
        return RETRY_S

    def close(self) -> None:
        """Drop an open question."""
        if self._link is not None:
            self._selector.unregister(self._link)
            self._link.close()
            self._link = None

    def _read(self) -> None:
        assert self._link is not None
        try:
            chunk = self._link.recv(ANSWER_BYTES)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        self._answer += chunk
        if chunk and len(self._answer) < ANSWER_BYTES:
            return
        self.close()
        head, _, body = self._answer.partition(b"\r\n\r\n")
        status = head.split(b" ", 2)[1:2]
        self.ready = status == [b"200"]
        if status:
            self.last_answer = f"{status[0].decode()} {body.decode(errors='replace').strip()[:300]}"

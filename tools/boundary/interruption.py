"""Database work of one call that ends when the call does.

A thread cannot be cancelled, so whoever gives a call up asks the server to end the statement that
its thread waits for; the thread then gives its connection back. What had not begun never begins.
"""

import asyncio
import logging
from collections.abc import Callable
from threading import Event, Lock
from typing import Any, Final

from django.db import connection

from tools.boundary.contract import Answer, InDatabase

CANCEL_S: Final = 1.0  # for the request to the server, and then for the thread to be done

logger = logging.getLogger(__name__)


class GivenUp(Exception):
    """The call ended before its work in the database began."""


class Interruptible:
    """`in_database` for the tool of one call: cancelling the caller ends the statement too."""

    def __init__(self, in_database: InDatabase) -> None:
        self._in_database = in_database

    async def __call__(self, function: Callable[..., Answer], *args: Any, **kwargs: Any) -> Answer:
        """As the port it stands for. The connection is free when the cancellation is raised."""
        visit = Visit()
        try:
            return await self._in_database(visit.make, function, *args, **kwargs)
        except asyncio.CancelledError:
            await asyncio.get_running_loop().run_in_executor(None, visit.end)
            raise


class Visit:
    """One visit to the database; `make` runs in its thread, `end` in any other."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: Any = None
        self._over = False
        self._idle = Event()
        self._idle.set()

    def make(self, function: Callable[..., Answer], *args: Any, **kwargs: Any) -> Answer:
        """Run the function unless the visit was ended before; raises `GivenUp` then."""
        with self._lock:
            if self._over:
                raise GivenUp
            connection.ensure_connection()
            self._held = connection.connection
            self._idle.clear()
        try:
            return function(*args, **kwargs)
        finally:
            with self._lock:  # a cancellation under way must not hit whoever is next
                self._held = None
            self._idle.set()

    def end(self) -> None:
        """Ask the server to end what runs, and wait until the thread is done with it."""
        with self._lock:
            self._over = True
            if self._held is None:
                return
            try:
                self._held.cancel_safe(timeout=CANCEL_S)
            except Exception as error:  # the statement then ends by its own time limit
                logger.warning("a statement could not be ended (%s)", type(error).__name__)
        self._idle.wait(CANCEL_S)

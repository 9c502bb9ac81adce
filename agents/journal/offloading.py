"""Synchronous database work off the event loop, in a bounded pool of threads.

Django's default is one thread a process, which lets one slow query stall everybody; unbounded
threads would take unbounded connections. Each call gives its connection back when it ends.
"""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from django.db import close_old_connections

Answer = TypeVar("Answer")

THREADS: Final = 8  # below the connection pool's size, so a thread never waits for a connection

_pool = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="database")


async def in_database(function: Callable[..., Answer], *args: Any, **kwargs: Any) -> Answer:
    """Run a function that uses the ORM and answer with its result.

    Cancelling the caller does not interrupt a statement already running; statement timeouts do.
    """
    context = contextvars.copy_context()

    def work() -> Answer:
        try:
            return context.run(function, *args, **kwargs)
        finally:
            close_old_connections()

    return await asyncio.get_running_loop().run_in_executor(_pool, work)


async def to_its_end(function: Callable[..., Answer], *args: Any, **kwargs: Any) -> Answer:
    """As `in_database`, for a commit whose outcome must be known.

    A caller that is cancelled meanwhile gets its cancellation when the function has ended, or the
    function's own error instead. A function that still waits for a thread runs all the same.
    """
    work = asyncio.ensure_future(in_database(function, *args, **kwargs))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait({work})
        work.result()
        raise

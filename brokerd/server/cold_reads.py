"""Threads that read what is not in memory, so that the event loop need not wait for the disk."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brokerd.log.cold import Spot

logger = logging.getLogger(__name__)

THREADS = 4


class ColdReads:
    """See the module. Its methods are called on the event loop. `requests` counts those served."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="cold-read")
        self._tasks: set[asyncio.Task[None]] = set()
        self.requests = 0

    def begin(self, serving: Coroutine[Any, Any, None]) -> None:
        """Runs what serves a request for cold bytes, until the broker stops."""
        self.requests += 1
        task = asyncio.ensure_future(serving)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def warm(self, spots: Sequence[Spot], is_wanted: Callable[[], bool]) -> None:
        """Returns when the bytes are in memory, or could not be read: who then reads them is told.

        The spots are released when no thread uses them any more. What `is_wanted`, which is asked
        in a thread, says nobody waits for any more is not read.
        """
        reading = asyncio.get_running_loop().run_in_executor(self._threads, _warm, spots, is_wanted)
        reading.add_done_callback(lambda _: release(spots))
        await reading

    async def stop(self) -> None:
        """Ends what is served and waits for the threads."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(self._threads.shutdown)


def _warm(spots: Sequence[Spot], is_wanted: Callable[[], bool]) -> None:
    for spot in spots:
        if not is_wanted():
            return
        try:
            spot.warm()
        except OSError as error:
            logger.info("reading ahead failed: %s", error)


def release(spots: Sequence[Spot]) -> None:
    """Gives back what the spots hold."""
    for spot in spots:
        spot.release()

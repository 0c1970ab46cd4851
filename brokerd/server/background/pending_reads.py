"""Threads that do pending reads, so that the event loop never waits for the disk."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar

from brokerd.cpu_scheduling import yield_to_event_loop
from brokerd.errors import KafkaError
from brokerd.event_loop_turns import begin_task, expect_busy_threads
from brokerd.log.io.page_cache import PendingRead
from brokerd.log.unified_log import UnifiedLog

logger = logging.getLogger(__name__)

THREADS = 4
LOGS_AT_ONCE_MAX = 64
"""The number of partitions whose files one request keeps open for threads."""

Item = TypeVar("Item")


class PendingReads:
    """Used on the event loop. `requests` counts the requests that waited for the disk."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "disk-read", yield_to_event_loop)
        self._tasks: set[asyncio.Task[None]] = set()
        self._shared: dict[object, asyncio.Future[None]] = {}
        self._clients: dict[object, asyncio.Future[None]] = {}
        self.requests = 0

    def begin(self, serving: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine that serves a request, until the broker stops."""
        begin_task(self._tasks, serving)

    async def load(self, pending: Sequence[PendingRead], is_wanted: Callable[[], bool]) -> None:
        """Returns when the bytes are in memory or could not be read; then the next attempt gets the
        error. The reads are released when no thread uses them. Reads of a client that is gone
        (`is_wanted`) are skipped, except those with a subject, for which other requests may wait.
        """
        reads = [self._share(each, each.subject) for each in pending if each.subject is not None]
        if len(reads) < len(pending):
            plain = [each for each in pending if each.subject is None]
            reads.append(self._read(plain, is_wanted))
        if reads:
            await asyncio.wait(reads)  # to give up waiting stops no thread
        for read in reads:
            read.result()

    async def load_for(
        self, client: object, pending: Sequence[PendingRead], is_wanted: Callable[[], bool]
    ) -> bool:
        """As `load`, for one request of a client at a time: if another is loading, waits for that
        and returns False. Each read also reads ahead, often just what the client needs next."""
        reading = self._clients.get(client)
        if reading is not None:
            release(pending)
            await asyncio.wait([reading])
            return False
        done = self._clients[client] = asyncio.get_running_loop().create_future()
        try:
            await self.load(pending, is_wanted)
        finally:
            del self._clients[client]
            done.set_result(None)
        return True

    def _read(
        self, pending: Sequence[PendingRead], is_wanted: Callable[[], bool]
    ) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        reading = loop.run_in_executor(self._threads, _load, pending, is_wanted)
        reading.add_done_callback(lambda _: release(pending))
        return reading

    def _share(self, pending: PendingRead, subject: object) -> asyncio.Future[None]:
        """The read of the same subject that is under way, else this one."""
        reading = self._shared.get(subject)
        if reading is not None:
            pending.release()
            return reading
        expect_busy_threads()
        reading = self._shared[subject] = self._read([pending], lambda: True)
        reading.add_done_callback(lambda _: self._shared.pop(subject))
        return reading

    async def stop(self) -> None:
        """Cancels what is being served, and waits for the threads."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(self._threads.shutdown)


def _load(pending: Sequence[PendingRead], is_wanted: Callable[[], bool]) -> None:
    for each in pending:
        if not is_wanted():
            return
        try:
            each.load()
        except (OSError, MemoryError) as error:
            logger.info("reading ahead failed: %s", error)


def chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    left = iter(items)
    while chunk := list(islice(left, LOGS_AT_ONCE_MAX)):
        yield chunk


def load_log(log: UnifiedLog) -> None:
    """Does the first use of a log. After an error the next use of the log gets it."""
    if not log.is_prepared and not log.local.is_abandoned:
        try:
            log.prepare_first_use()
        except KafkaError as error:
            logger.info("the first use of a log failed: %s", error.message)
        except Exception:  # such as no memory: the next use gets it, other logs are loaded
            logger.exception("%s could not be used", log.directory)


def release(pending: Sequence[PendingRead]) -> None:
    for each in pending:
        each.release()

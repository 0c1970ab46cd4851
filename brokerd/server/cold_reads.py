"""Threads that read what is not in memory, or for long, so that the event loop need not wait."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from brokerd.errors import KafkaError
from brokerd.log.cold import READS_MAX, ColdError
from brokerd.scheduling import work_aside
from brokerd.turns import expect_busy_threads, in_turns

if TYPE_CHECKING:
    from brokerd.log.cold import Spot
    from brokerd.log.partition_log import PartitionLog

logger = logging.getLogger(__name__)

THREADS = 4
LOGS_AT_ONCE_MAX = 64
"""Of so many logs files are held open for threads by one request."""

Item = TypeVar("Item")


class ColdReads:
    """See the module. Its methods are called on the event loop. `requests` are those that had to
    wait for cold bytes."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "cold-read", work_aside)
        self._tasks: set[asyncio.Task[None]] = set()
        self._shared: dict[object, asyncio.Future[None]] = {}
        self._clients: dict[object, asyncio.Future[None]] = {}
        self.requests = 0

    def read(self, spot: Spot, done: Callable[[], object]) -> None:
        """Has a spot warmed in its own time, for who serves no request; then calls `done`."""
        task = asyncio.ensure_future(self.warm([spot], lambda: True))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: done())

    def begin(self, serving: Coroutine[Any, Any, None]) -> None:
        """Runs what serves a request in its own time, until the broker stops."""
        task = asyncio.ensure_future(serving)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def warm(self, spots: Sequence[Spot], is_wanted: Callable[[], bool]) -> None:
        """Returns when the bytes are in memory, or could not be read: who then reads them is told.

        The spots are released when no thread uses them any more. What `is_wanted`, which is asked
        in a thread, says nobody waits for any more is not read, but for a spot with a subject, for
        which others may wait.
        """
        reads = [self._share(spot, spot.subject) for spot in spots if spot.subject is not None]
        if len(reads) < len(spots):
            plain = [spot for spot in spots if spot.subject is None]
            reads.append(self._read(plain, is_wanted))
        if reads:
            await asyncio.wait(reads)  # to give up waiting stops no thread
        for read in reads:
            read.result()

    async def warm_for(
        self, client: object, spots: Sequence[Spot], is_wanted: Callable[[], bool]
    ) -> bool:
        """As `warm`, for one request of a client at a time; False where it waited for another one's
        bytes instead.

        With them comes what is read ahead, often just what a client that reads on lacks next; and
        threads that read it at once only kept each other, and the event loop, from running.
        """
        reading = self._clients.get(client)
        if reading is not None:
            release(spots)
            await asyncio.wait([reading])
            return False
        done = self._clients[client] = asyncio.get_running_loop().create_future()
        try:
            await self.warm(spots, is_wanted)
        finally:
            del self._clients[client]
            done.set_result(None)
        return True

    def _read(self, spots: Sequence[Spot], is_wanted: Callable[[], bool]) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        reading = loop.run_in_executor(self._threads, _warm, spots, is_wanted)
        reading.add_done_callback(lambda _: release(spots))
        return reading

    def _share(self, spot: Spot, subject: object) -> asyncio.Future[None]:
        """What warms a spot of that subject; another that is asked for meanwhile is not needed."""
        reading = self._shared.get(subject)
        if reading is not None:
            spot.release()
            return reading
        expect_busy_threads()
        reading = self._shared[subject] = self._read([spot], lambda: True)
        reading.add_done_callback(lambda _: self._shared.pop(subject))
        return reading

    async def load(self, logs: Sequence[PartitionLog]) -> None:
        """Has done what is put off until the first use of logs; who then uses one that cannot be
        read is told. Where it takes long threads do it, of some logs at once."""
        late: list[PartitionLog] = []
        await in_turns(logs, partial(_begin_load, late))
        for chunk in chunks(late):
            await asyncio.gather(*map(self._load, chunk))

    async def _load(self, log: PartitionLog) -> None:
        for _ in range(READS_MAX):
            spot = _lacking(log)
            if spot is None:
                return
            await self.warm([spot], lambda: True)

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
        except (OSError, MemoryError) as error:
            logger.info("reading ahead failed: %s", error)


def chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    """The items, LOGS_AT_ONCE_MAX at a time."""
    left = iter(items)
    while chunk := list(islice(left, LOGS_AT_ONCE_MAX)):
        yield chunk


def takes_long(log: PartitionLog) -> bool:
    """Whether the first use of a log is to be left to `ColdReads.load`; else it is done."""
    spot = _lacking(log)
    if spot is not None:
        spot.release()
    return spot is not None


def _begin_load(late: list[PartitionLog], log: PartitionLog) -> None:
    if takes_long(log):
        late.append(log)


def _lacking(log: PartitionLog) -> Spot | None:
    """What has to be read before a log can be used, where that takes long; else that is done."""
    if not log.is_loaded and not log.is_abandoned:
        try:
            log.load(patient=False)
        except ColdError as error:
            return error.spot
        except KafkaError as error:
            logger.info("the first use of a log failed: %s", error.message)
        except Exception:  # no memory, say: who then uses it is told, and nobody else's is lost
            logger.exception("%s could not be used", log.directory)
    return None


def release(spots: Sequence[Spot]) -> None:
    """Gives back what the spots hold."""
    for spot in spots:
        spot.release()

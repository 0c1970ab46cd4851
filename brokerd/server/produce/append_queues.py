"""Queues of batches that need work in a thread before they are appended, in the order they came.

A partition has a queue while a thread works on batches of it; every later batch waits behind them.
Batches that a thread got together are appended together; only then sequence numbers are checked and
offsets given, so that the log has the order in which the batches were received. Produces for many
logs that are used for the first time, which reads files, come here, too.

A queue is bounded in bytes and in batches: the connection that fills it reads no more until half of
it is done. What all queues hold counts against `queued.max.request.bytes`. A batch whose connection
has gone is appended all the same; one whose partition is led by another broker by then, or is
deleted, is refused.

Later requests of the client see the batch in the log: more Produces are queued behind it, and
before any other request the connection is muted until its batches are appended.
"""

import asyncio
import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from brokerd.clock import Clock
from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import expect_busy_threads, in_turns
from brokerd.log.assign_offsets import AppendResult
from brokerd.log.log_validator.validate_and_recompress import RecordWork, validate_and_recompress
from brokerd.protocol.records import Buffer
from brokerd.replication.partition import Partition
from brokerd.server.background.pending_reads import load_log
from brokerd.server.network.connection import Connection
from brokerd.server.network.receive_buffers import ReceiveBuffers

logger = logging.getLogger(__name__)

THREADS_MAX = 4
QUEUED_BYTES_MAX = 16 << 20
QUEUED_MAX = 1000
JOB_BYTES_MAX = 1 << 20
JOB_MAX = 128
"""Batches that go out together: one way there and back for many small ones."""


@dataclass(slots=True, eq=False)
class AppendFuture:
    """The result of a queued batch: `result` is set when it is known, then `on_done` is called."""

    result: AppendResult | KafkaError | None = None
    on_done: Callable[[], None] | None = None

    def set_result(self, result: AppendResult | KafkaError) -> None:
        """Set the result; raises what `on_done` raises."""
        self.result = result.without_frames() if isinstance(result, KafkaError) else result
        if self.on_done is not None:
            self.on_done()


class _Entry:
    __slots__ = ("batch", "connection", "future", "size_bytes", "work")

    def __init__(self, connection: Connection, batch: bytearray, work: RecordWork | None) -> None:
        self.connection = connection
        self.batch = batch
        self.size_bytes = len(batch)
        self.work = work
        self.future = AppendFuture()

    def set_result(self, result: AppendResult | KafkaError) -> None:
        """Sets the result. If its request cannot be answered the connection ends: no later reply
        could be sent."""
        try:
            self.future.set_result(result)
        except Exception:
            logger.exception("a queued request could not be answered")
            self.connection.close("an unexpected error in the broker")


class _Queue:
    """The queue of a partition: entries that wait, those in a thread, and the muted connections."""

    __slots__ = ("at_work", "muted", "needs_load", "partition", "size_bytes", "waiting")

    def __init__(self, partition: Partition, needs_load: bool) -> None:
        self.partition = partition
        self.needs_load = needs_load
        self.waiting: deque[_Entry] = deque()
        self.at_work: list[_Entry] = []
        self.size_bytes = 0
        self.muted: set[Connection] = set()

    def is_filled_to(self, share: float) -> bool:
        count = len(self.waiting) + len(self.at_work)
        return self.size_bytes > share * QUEUED_BYTES_MAX or count > share * QUEUED_MAX

    def take(self) -> list[_Entry]:
        """The next entries that go to a thread together."""
        taken: list[_Entry] = []
        size_bytes = 0
        while self.waiting and len(taken) < JOB_MAX and size_bytes < JOB_BYTES_MAX:
            entry = self.waiting.popleft()
            taken.append(entry)
            size_bytes += entry.size_bytes
        return taken


class AppendQueues:
    """The queues of all partitions of a broker. `by_partition` has those with entries."""

    def __init__(self, clock: Clock, memory: ReceiveBuffers) -> None:
        self._clock = clock
        self._memory = memory
        self._loop = asyncio.get_running_loop()
        self.by_partition: dict[Partition, _Queue] = {}
        self._to_load: deque[_Queue] = deque()
        self._loading: asyncio.Task[None] | None = None
        self._threads: ThreadPoolExecutor | None = None
        self._empty = asyncio.Event()
        self._empty.set()
        self._closed = False

    def add(
        self,
        connection: Connection,
        partition: Partition,
        batches: Sequence[memoryview],
        work: Mapping[int, RecordWork],
        *,
        needs_load: bool = False,
    ) -> tuple[AppendFuture, ...]:
        """Queues copies of batches. Those without `work` only wait for the ones before them, or
        (`needs_load`) for the first use of the log."""
        queue = self.by_partition.get(partition) or self._begin(partition, needs_load)
        entries = [
            _Entry(connection, bytearray(batch), work.get(i)) for i, batch in enumerate(batches)
        ]
        connection.produces_open += len(entries)
        size_bytes = sum(entry.size_bytes for entry in entries)
        queue.waiting += entries
        queue.size_bytes += size_bytes
        self._memory.lend(size_bytes)
        if connection not in queue.muted and queue.is_filled_to(1):
            queue.muted.add(connection)
            connection.mute()
        if not queue.at_work and not queue.needs_load:
            self._send_out(queue)
        return tuple(entry.future for entry in entries)

    def _begin(self, partition: Partition, needs_load: bool) -> _Queue:
        queue = self.by_partition[partition] = _Queue(partition, needs_load)
        self._empty.clear()
        if needs_load:
            self._to_load.append(queue)
            if self._loading is None or self._loading.done():
                loading = in_turns(self._queues_to_load(), self._load)
                self._loading = self._loop.create_task(loading)
        return queue

    def _queues_to_load(self) -> Iterator[_Queue]:
        while self._to_load and not self._closed:
            yield self._to_load.popleft()

    def _load(self, queue: _Queue) -> None:
        load_log(queue.partition.log)
        self._append_or_send_out(queue)

    def _append_or_send_out(self, queue: _Queue) -> None:
        queue.needs_load = False
        if any(entry.work is not None for entry in queue.waiting):
            self._send_out(queue)
            return
        queue.at_work = entries = queue.take()
        self._returned(queue, entries, [entry.batch for entry in entries])

    def _send_out(self, queue: _Queue) -> None:
        if self._closed:
            return
        queue.at_work = entries = queue.take()
        if self._threads is None:
            count = min(os.cpu_count() or 1, THREADS_MAX)
            self._threads = ThreadPoolExecutor(count, thread_name_prefix="batches")
            expect_busy_threads()
        try:
            self._threads.submit(self._work, queue, entries)
        except RuntimeError as error:  # the system gives no more threads
            logger.error("batches could not be looked at: %s", error)
            refused = KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "no thread could be started")
            self._loop.call_soon(self._returned, queue, entries, [refused] * len(entries))

    def _work(self, queue: _Queue, entries: list[_Entry]) -> None:
        """Runs in a thread: uses only the bytes."""
        done = [_do(entry.batch, entry.work) for entry in entries]
        self._loop.call_soon_threadsafe(self._returned, queue, entries, done)

    def _returned(
        self, queue: _Queue, entries: list[_Entry], done: Sequence[Buffer | KafkaError]
    ) -> None:
        if self._closed or queue.at_work is not entries:
            return  # after a `submit` that raised, a thread may do the job: the first result counts
        queue.at_work = []
        results = self._append(queue.partition, done)
        size_bytes = sum(entry.size_bytes for entry in entries)
        queue.size_bytes -= size_bytes
        if queue.waiting:
            self._send_out(queue)
        else:
            del self.by_partition[queue.partition]
            if not self.by_partition:
                self._empty.set()
        for entry, result in zip(entries, results, strict=True):
            entry.set_result(result)
            entry.connection.produces_open -= 1
            entry.connection.unmute_if_done()
        self._memory.repay(size_bytes)
        if queue.muted and not queue.is_filled_to(0.5):
            muted, queue.muted = queue.muted, set()
            for connection in muted:
                connection.unmute()

    def _append(
        self, partition: Partition, done: Sequence[Buffer | KafkaError]
    ) -> list[AppendResult | KafkaError]:
        batches = [each for each in done if not isinstance(each, KafkaError)]
        failed: KafkaError | None = None
        results: list[Any] = []
        try:
            if batches:
                results = partition.append(batches, self._clock.now_ms())
        except KafkaError as error:
            failed = error
        except Exception:
            logger.exception("append to %s-%d failed", partition.topic, partition.index)
            failed = KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        given = iter(results)
        return [each if isinstance(each, KafkaError) else failed or next(given) for each in done]

    async def drain(self, timeout_s: float) -> None:
        """Returns when nothing is queued, or the time is over."""
        try:
            await asyncio.wait_for(self._empty.wait(), timeout_s)
        except TimeoutError:
            left = sum(len(each.waiting) + len(each.at_work) for each in self.by_partition.values())
            logger.warning("%d batches were not appended before the broker stopped", left)

    async def close(self) -> None:
        """Drops what is queued; nothing more is appended."""
        self._closed = True
        self.by_partition.clear()
        if self._threads is not None:
            threads, self._threads = self._threads, None
            await asyncio.to_thread(threads.shutdown, wait=True, cancel_futures=True)


def _do(batch: bytearray, work: RecordWork | None) -> Buffer | KafkaError:
    if work is None:
        return batch
    try:
        return validate_and_recompress(batch, work)
    except KafkaError as error:
        return error.without_frames()  # its frames hold what had been decompressed
    except BaseException as error:  # a codec that panics raises no Exception
        logger.error("a batch could not be looked at", exc_info=error)
        return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "unexpected error in the broker")

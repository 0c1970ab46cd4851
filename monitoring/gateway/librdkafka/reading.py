"""Reads records with librdkafka. Runs only in a worker process (worker_process.py).

The consumer uses assigned partitions and joins no group: it commits nothing, and no group appears
on the cluster.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway.backward_scan import NewestRecords, PartitionScan
from monitoring.gateway.errors import NotFound, OffsetOutOfRange
from monitoring.gateway.librdkafka.error_mapping import gateway_error_of, raising_gateway_errors
from monitoring.gateway.record_pages import (
    FAILED,
    NO_LEADER,
    SILENT,
    TOO_MUCH,
    ReadRequest,
    RecordPage,
    UnreadPartition,
)
from monitoring.gateway.record_row import Headers, RecordRow, by_offset, by_time
from monitoring.reasons import Reason

_WINDOW_RECORDS_MAX = 5000  # in the windows of all partitions together


def read(request: ReadRequest) -> RecordPage:
    """Implements `RecordPages.read`."""
    topic, partition, offset = request.topic, request.partition, request.offset
    reset = "earliest" if offset is None else "error"
    with raising_gateway_errors(), open_consumer(request.settings, reset) as consumer:
        leaders = _leaders(consumer, topic, request.timeout_s)
        if partition is not None and partition not in leaders:
            raise NotFound(Reason("no_partition", topic=topic, partition=partition))
        numbers = sorted(leaders) if partition is None else [partition]
        unread = [UnreadPartition(number, NO_LEADER) for number in numbers if leaders[number] < 0]
        led = [number for number in numbers if leaders[number] >= 0]
        unread += [
            UnreadPartition(number, SILENT) for number in led if number not in request.offset_ranges
        ]
        readable = {
            number: request.offset_ranges[number]
            for number in led
            if number in request.offset_ranges
        }
        reader = _Reader(consumer, topic, request.max_bytes, request.timeout_s)
        if not readable:
            page = RecordPage(rows=())
        elif offset is not None:
            page = reader.read_forward(led[0], readable[led[0]], offset, request.limit)
        elif len(numbers) == 1:
            page = reader.read_backward(
                led[0], readable[led[0]], request.before_offset, request.limit
            )
        else:
            page = reader.read_newest(readable, request.limit)
    missing = sorted([*unread, *page.unread], key=lambda each: each.partition)
    return replace(page, unread=tuple(missing))


@contextmanager
def open_consumer(settings: ClientSettings, reset: str) -> Iterator[Consumer]:
    """A consumer that is closed at the end; it reads committed records."""
    consumer = Consumer(
        {
            **settings.librdkafka(),
            "client.id": "aerie-browse",
            "group.id": "aerie-browse",  # librdkafka requires a name; the group is never joined
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": reset,
            "fetch.wait.max.ms": 50,
            "fetch.message.max.bytes": 1024 * 1024,
            "queued.max.messages.kbytes": 16 * 1024,
            "log_level": 0,
        }
    )
    try:
        yield consumer
    finally:
        consumer.close()


def _leaders(consumer: Consumer, topic: str, timeout_s: float) -> dict[int, int]:
    """Partition → its leader, −1 = none."""
    response = consumer.list_topics(topic, timeout=timeout_s).topics[topic]
    if response.error is not None:
        raise gateway_error_of(response.error)
    return {number: partition.leader for number, partition in response.partitions.items()}


class _Reader:
    """One read: its consumer and its limits."""

    def __init__(self, consumer: Consumer, topic: str, max_bytes: int, timeout_s: float) -> None:
        self._consumer, self._topic, self._max_bytes = consumer, topic, max_bytes
        self._deadline_s = time.monotonic() + timeout_s
        self._answered: set[int] = set()  # partitions that answered
        self._failed: dict[int, UnreadPartition] = {}

    def read_forward(self, partition: int, log_range: range, offset: int, limit: int) -> RecordPage:
        """Records from `offset` on."""
        if not log_range.start <= offset <= log_range.stop:
            raise OffsetOutOfRange(_range_message(self._topic, partition, log_range))
        older = offset if offset > log_range.start else None
        if offset == log_range.stop:
            return RecordPage(rows=(), partition=partition, older_before=older)
        rows: list[RecordRow] = []
        size_bytes, at_end = 0, False
        self._assign({partition: OFFSET_BEGINNING if offset == log_range.start else offset})
        while len(rows) < limit and size_bytes < self._max_bytes and not at_end:
            message = self._next(partition_count=1)
            if message is None:
                break
            if message.error() is not None:
                at_end = True
            else:
                rows.append(row_of(message))
                size_bytes += rows[-1].size_bytes
        if rows and rows[0].offset > log_range.start:
            older = rows[0].offset
        newer = rows[-1].offset + 1 if rows and not at_end else None
        unread = () if at_end or len(rows) == limit else (self._unread_partition(partition),)
        newer = newer if newer is not None and newer < log_range.stop else None
        return RecordPage(tuple(rows), unread, partition, older, newer)

    def read_backward(
        self, partition: int, log_range: range, before_offset: int | None, limit: int
    ) -> RecordPage:
        """The newest records below `before_offset`."""
        end = log_range.stop if before_offset is None else min(before_offset, log_range.stop)
        scan = PartitionScan(partition, log_range.start, end, limit)
        # One more than `limit`, to see if there are older ones.
        newest = NewestRecords([scan], limit + 1, by_offset)
        self._scan(newest)
        rows = newest.rows[:limit]
        older = None
        if len(newest.rows) > limit:
            older = rows[-1].offset
        elif not scan.is_over and scan.end < end:
            older = scan.end
        newer = rows[0].offset + 1 if rows else end
        unread = () if len(rows) == limit else self._unread_partitions(newest)
        is_last = before_offset is None or newer >= log_range.stop
        return RecordPage(tuple(rows), unread, partition, older, None if is_last else newer)

    def read_newest(self, offset_ranges: Mapping[int, range], limit: int) -> RecordPage:
        """The newest records of several partitions."""
        width = max(1, min(limit, _WINDOW_RECORDS_MAX // len(offset_ranges)))
        scans = [
            PartitionScan(number, offsets.start, offsets.stop, width)
            for number, offsets in offset_ranges.items()
        ]
        newest = NewestRecords(scans, limit, by_time)
        self._scan(newest)
        return RecordPage(tuple(newest.rows), self._unread_partitions(newest))

    def _unread_partitions(self, newest: NewestRecords) -> tuple[UnreadPartition, ...]:
        return tuple(self._unread_partition(scan.partition) for scan in newest.unfinished())

    def _unread_partition(self, partition: int) -> UnreadPartition:
        why = TOO_MUCH if partition in self._answered else SILENT
        return self._failed.get(partition, UnreadPartition(partition, why))

    def _scan(self, newest: NewestRecords) -> None:
        """Read until the newest records are found, all is read, or a limit is reached."""
        while time.monotonic() < self._deadline_s:
            bytes_left = self._max_bytes - newest.size_bytes
            scans = [scan for scan in newest.unfinished() if scan.partition not in self._failed]
            if not scans or bytes_left <= 0:
                break
            newest.add(self._read_windows(scans, bytes_left))

    def _read_windows(
        self, scans: Sequence[PartitionScan], bytes_left: int
    ) -> list[tuple[PartitionScan, list[RecordRow] | None]]:
        """The windows that were read in time; None = the window exceeds its share of the limits."""
        records_max = max(1, _WINDOW_RECORDS_MAX // len(scans))
        bytes_max = bytes_left // len(scans)
        windows = {scan.partition: _Window(scan) for scan in scans}
        done: list[tuple[PartitionScan, list[RecordRow] | None]] = []
        buffered_bytes = 0
        self._assign({scan.partition: scan.start for scan in scans})
        while windows:
            message = self._next(partition_count=len(scans))
            if message is None:
                break
            for number in self._failed:
                windows.pop(number, None)
            number = _partition(message)
            window = windows.get(number)
            if window is None:
                continue
            buffered_bytes -= window.size_bytes
            is_complete = window.add(message)
            if is_complete or len(window.rows) >= records_max or window.size_bytes > bytes_max:
                done.append((window.scan, window.rows if is_complete else None))
                del windows[number]
            buffered_bytes += window.size_bytes if is_complete or number in windows else 0
            if buffered_bytes >= bytes_left:  # many windows can exceed the limit together
                done += [(window.scan, None) for window in windows.values() if window.rows]
                break
        return done

    def _assign(self, offsets: Mapping[int, int]) -> None:
        positions = [TopicPartition(self._topic, number, at) for number, at in offsets.items()]
        self._consumer.assign(positions)

    def _next(self, *, partition_count: int) -> Message | None:
        """A record, the end of a partition, or None if the time limit is reached.

        Raises the error of a partition that is read alone; of several, stores it in `_failed`.
        """
        # `poll` waits forever if its time-out is negative.
        while (left_s := self._deadline_s - time.monotonic()) > 0:
            message = self._consumer.poll(min(left_s, 0.5))
            if message is None:
                continue
            error, number = message.error(), _partition(message)
            if error is None or error.code() == KafkaError._PARTITION_EOF:
                self._answered.add(number)
            elif partition_count == 1:
                raise KafkaException(error)
            else:
                self._failed.setdefault(
                    number, UnreadPartition(number, FAILED, gateway_error_of(error).message)
                )
            return message
        return None


class _Window:
    """The records of a scan's next window."""

    __slots__ = ("rows", "scan", "size_bytes")

    def __init__(self, scan: PartitionScan) -> None:
        self.scan = scan
        self.rows: list[RecordRow] = []
        self.size_bytes = 0

    def add(self, message: Message) -> bool:
        """Add a message; returns True if the window is complete."""
        if message.error() is not None or _offset(message) >= self.scan.end:
            return True
        row = row_of(message)
        self.rows.append(row)
        self.size_bytes += row.size_bytes
        return row.offset == self.scan.end - 1


def _range_message(topic: str, partition: int, log_range: range) -> Reason:
    parameters = {"topic": topic, "partition": partition}
    if log_range:
        return Reason("offsets_held", **parameters, first=log_range.start, last=log_range.stop - 1)
    return Reason("partition_empty", **parameters, next=log_range.stop)


def _partition(message: Message) -> int:
    """-1 = an error that does not belong to a partition."""
    number = message.partition()
    return -1 if number is None else number


def _offset(message: Message) -> int:
    offset = message.offset()
    return -1 if offset is None else offset


def row_of(message: Message) -> RecordRow:
    """The record of a message without an error."""
    kind, timestamp_ms = message.timestamp()
    return RecordRow(
        partition=_partition(message),
        offset=_offset(message),
        timestamp_ms=timestamp_ms if kind else None,
        key=message.key(),
        value=message.value(),
        headers=cast(Headers, tuple(message.headers() or ())),
    )

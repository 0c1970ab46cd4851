"""Reads records by partition and offset, in pages of limited size.

A page is limited in records, bytes and time. Partitions that could not be read completely are
listed with the reason; partitions without a leader are not requested. No consumer group appears on
the cluster, and only committed records are read.
"""

import threading
import time
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.error_reason import Reason
from monitoring.gateway import event_loop, request_timeouts
from monitoring.gateway.backward_scan import NewestRecords, PartitionScan
from monitoring.gateway.errors import (
    ClusterUnavailable,
    GatewayError,
    NotFound,
    OffsetOutOfRange,
    Unreadable,
)
from monitoring.gateway.record_row import RecordRow, by_offset, by_time
from monitoring.gateway.wire import batch_scan, batches
from monitoring.gateway.wire.fetch import FetchedRecords
from monitoring.gateway.wire.record_fetcher import RecordFetcher

LIMIT_MAX = 500
_BYTES_MAX = 8 * 1024 * 1024  # of the keys, values and headers of a page
_FETCH_BYTES = 256 * 1024  # of batches, from one partition at a time
_LONG_FETCH_WAIT_MS = 2000  # for records in remote storage
_FETCH_WAIT_MS = 50  # for the rest of a partition, all of which is in an open transaction
_FETCHES_MAX = 16  # at the same time
_WINDOW_RECORDS_MAX = 5000  # in the windows of all partitions together
_GRACE_S = 0.5  # for the work after the last response
# A batch can unpack to 64 MiB (batches.py): so many are unpacked at the same time.
_unpacking = threading.BoundedSemaphore(2)
_T = TypeVar("_T")

# Why a partition was not read, or not completely.
NO_LEADER = "no leader"
SILENT = "silent"  # its leader did not answer in time
TOO_MUCH = "too much"  # the limit of bytes or time was reached
FAILED = "failed"  # the broker refused; `detail` says why


@dataclass(frozen=True, slots=True)
class UnreadPartition:
    """A partition that was not read, or not completely."""

    partition: int
    why: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RecordPage:
    """The records of one read, and the offsets for the next and previous pages.

    Records are in the order of the read: newest first, or forward from an offset. If only
    `partition` was read, `older_before` is the argument `before_offset` of the next read, and
    `newer_offset` its argument `offset`; None = no more records.
    """

    rows: tuple[RecordRow, ...]
    unread: tuple[UnreadPartition, ...] = ()
    partition: int | None = None
    older_before: int | None = None
    newer_offset: int | None = None


class RecordPages:
    """Reads records of one cluster."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings

    def read(
        self,
        topic: str,
        partition: int | None,
        offset: int | None,
        limit: int,
        max_bytes: int = _BYTES_MAX,
        *,
        before_offset: int | None = None,
    ) -> RecordPage:
        """Up to `limit` records, and the partitions that could not be read.

        With `partition` and `offset`: forward from that offset. With `partition` and
        `before_offset`: the newest records below that offset. Otherwise the newest records, of
        `partition` or of all partitions. One partition is sorted by offset, several by timestamp.
        Raises NotFound, OffsetOutOfRange, ClusterUnavailable, Unreadable or Refused.
        """
        if partition is None and (offset is not None or before_offset is not None):
            raise NotFound(Reason("offset_needs_partition"))
        reader = _PageReader(RecordFetcher(self._settings, topic), topic, max_bytes)
        try:
            numbers = reader.find_partitions(partition)
            limit = max(1, min(limit, LIMIT_MAX))
            if not reader.offset_ranges:
                page = RecordPage(rows=())
            elif len(numbers) > 1:
                page = reader.read_newest(limit)
            elif offset is None:
                page = reader.read_backward(numbers[0], before_offset, limit)
            else:
                page = reader.read_forward(numbers[0], offset, limit)
        finally:
            reader.close()
        missing = sorted([*reader.unread, *page.unread], key=lambda each: each.partition)
        return replace(page, unread=tuple(missing))


class _PageReader:
    """Reads one page, within its limits. The loop of the connections fetches; this thread decodes.

    `offset_ranges`: the partitions to read and their offsets. `unread`: those that cannot be read.
    """

    def __init__(self, fetcher: RecordFetcher, topic: str, max_bytes: int) -> None:
        self._fetcher, self._topic, self._max_bytes = fetcher, topic, max_bytes
        self._deadline_s = time.monotonic() + request_timeouts.READ_S
        self.offset_ranges: dict[int, range] = {}
        self.unread: list[UnreadPartition] = []
        self._failed: dict[int, UnreadPartition] = {}
        self._has_ended = True  # whether all requests have

    def find_partitions(self, partition: int | None) -> Sequence[int]:
        """Find the leaders and offsets of one partition or of all, and return their numbers; then
        the time of the read begins.

        Raises GatewayError, NotFound without such a topic or partition.
        """

        async def find() -> tuple[int, dict[int, range]]:
            metadata = await self._fetcher.find_leaders(request_timeouts.READ_S / 2)
            found = await self._fetcher.offset_ranges(metadata, request_timeouts.READ_S / 2)
            return len(metadata.rows_by_topic[self._topic]), found

        count, found = self._run(find())
        if partition is not None and partition >= count:
            raise NotFound(Reason("no_partition", topic=self._topic, partition=partition))
        numbers = range(count) if partition is None else [partition]
        for number in numbers:
            if number not in self._fetcher.leaders:
                self.unread.append(UnreadPartition(number, NO_LEADER))
            elif number not in found:
                self.unread.append(UnreadPartition(number, SILENT))
            else:
                self.offset_ranges[number] = found[number]
        self._deadline_s = time.monotonic() + request_timeouts.READ_S
        return numbers

    def read_forward(self, partition: int, offset: int, limit: int) -> RecordPage:
        """Records from `offset` on."""
        log_range = self.offset_ranges[partition]
        if not log_range.start <= offset <= log_range.stop:
            raise OffsetOutOfRange(_range_message(self._topic, partition, log_range))
        window = _Window(partition, offset, log_range.stop)
        while not window.is_complete and not window.is_cut and self._seconds_left > 0:
            self._fetch_into([window], limit, self._max_bytes)
            if partition in self._failed:
                break
        rows = window.rows
        older = offset if offset > log_range.start else None
        if rows and rows[0].offset > log_range.start:
            older = rows[0].offset
        newer = None
        if window.is_cut:
            newer = rows[-1].offset + 1
        elif offset < window.at < log_range.stop:
            newer = window.at
        is_full = window.is_complete or len(rows) == limit
        unread = () if is_full else (self._unread_partition(partition),)
        return RecordPage(tuple(rows), unread, partition, older, newer)

    def read_backward(self, partition: int, before_offset: int | None, limit: int) -> RecordPage:
        """The newest records below `before_offset`."""
        log_range = self.offset_ranges[partition]
        end = log_range.stop if before_offset is None else min(before_offset, log_range.stop)
        # One more than `limit`, to see if there are older ones.
        scan = PartitionScan(partition, log_range.start, end, limit + 1)
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

    def read_newest(self, limit: int) -> RecordPage:
        """The newest records of all partitions."""
        width = max(1, min(limit, _WINDOW_RECORDS_MAX // len(self.offset_ranges)))
        scans = [
            PartitionScan(number, offsets.start, offsets.stop, width)
            for number, offsets in self.offset_ranges.items()
        ]
        newest = NewestRecords(scans, limit, by_time)
        self._scan(newest)
        return RecordPage(tuple(newest.rows), self._unread_partitions(newest))

    def close(self) -> None:
        """End the use of the connections; does not wait for that."""
        event_loop.submit(self._fetcher.close(is_reusable=self._has_ended))

    @property
    def _seconds_left(self) -> float:
        return self._deadline_s - time.monotonic()

    def _run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        self._has_ended = False
        result = event_loop.run_requests(coroutine, request_timeouts.READ_S + _GRACE_S)
        self._has_ended = True
        return result

    def _unread_partitions(self, newest: NewestRecords) -> tuple[UnreadPartition, ...]:
        return tuple(self._unread_partition(scan.partition) for scan in newest.unfinished())

    def _unread_partition(self, partition: int) -> UnreadPartition:
        return self._failed.get(partition, UnreadPartition(partition, TOO_MUCH))

    def _scan(self, newest: NewestRecords) -> None:
        """Read until the newest records are found, all is read, or a limit is reached."""
        while self._seconds_left > 0:
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
        done: list[tuple[PartitionScan, list[RecordRow] | None]] = []
        for start in range(0, len(scans), _FETCHES_MAX):
            part = scans[start : start + _FETCHES_MAX]
            windows = {
                scan.partition: _Window(scan.partition, scan.start, scan.end) for scan in part
            }
            while windows and self._seconds_left > 0:
                self._fetch_into(list(windows.values()), records_max, bytes_max)
                for scan in part:
                    window = windows.get(scan.partition)
                    if window is None or not (window.is_complete or window.is_cut):
                        continue
                    del windows[scan.partition]
                    done.append((scan, window.rows if window.is_complete else None))
                    bytes_left -= window.size_bytes
                    if bytes_left <= 0:  # many windows can exceed the limit together
                        return done
                for partition in self._failed:
                    windows.pop(partition, None)
        return done

    def _fetch_into(self, windows: Sequence["_Window"], limit: int, max_bytes: int) -> None:
        """The next Fetch of each window. Raises the error of a partition that is read alone; of
        several, stores it in `_failed`."""
        timeout_s = max(min(self._seconds_left, request_timeouts.READ_S / 2), 0.001)
        is_slow = any(window.was_empty for window in windows)
        wait_ms = _LONG_FETCH_WAIT_MS if is_slow else _FETCH_WAIT_MS
        offsets = {window.partition: window.at for window in windows}
        answers = self._run(self._fetcher.fetch_each(offsets, _FETCH_BYTES, timeout_s, wait_ms))
        for window in windows:
            try:
                window.add(answers[window.partition], limit, max_bytes)
            except GatewayError as error:
                if window.has_answered and self._seconds_left <= 0:  # our time is over
                    self._failed[window.partition] = UnreadPartition(window.partition, TOO_MUCH)
                    continue
                if isinstance(error, ClusterUnavailable):
                    self._failed[window.partition] = UnreadPartition(window.partition, SILENT)
                    continue
                if len(self.offset_ranges) == 1:
                    raise
                self._failed[window.partition] = UnreadPartition(
                    window.partition, FAILED, error.message
                )


class _Window:
    """The records of a range of offsets, which are fetched forward, from `at` on."""

    def __init__(self, partition: int, first: int, end: int) -> None:
        self.partition, self.at, self._end = partition, first, end
        self.rows: list[RecordRow] = []
        self.size_bytes = 0
        self.is_cut = False  # a limit was reached before the end
        self.was_empty = False  # the last answer had no records, though there are committed ones
        self.has_answered = False

    @property
    def is_complete(self) -> bool:
        return not self.is_cut and self.at >= self._end

    def add(self, answer: FetchedRecords | GatewayError, limit: int, max_bytes: int) -> None:
        """Add the records of an answer, up to `limit` records and about `max_bytes` in all.

        Raises the error that is the answer, or Unreadable.
        """
        if isinstance(answer, GatewayError):
            raise answer
        try:
            with _unpacking:
                self._add(answer, limit, max_bytes)
        except batch_scan.DAMAGE_ERRORS as error:
            raise Unreadable(Reason("does_not_parse", why=str(error))) from error

    def _add(self, answer: FetchedRecords, limit: int, max_bytes: int) -> None:
        self.has_answered = True
        data, after = batches.batches_before(answer.records, self._end)
        if not answer.records and self.at < min(self._end, answer.last_stable_offset):
            # Brokers answer so while they fetch the records from remote storage.
            if self.was_empty:
                raise ClusterUnavailable(Reason("partition_sends_nothing"))
            self.was_empty = True
            return
        self.was_empty = False
        for row in _rows(self.partition, answer, data, range(self.at, self._end)):
            if len(self.rows) >= limit or self.size_bytes >= max_bytes:
                self.is_cut = True
                return
            self.rows.append(row)
            self.size_bytes += row.size_bytes
        # None: the rest is in an open transaction, or compaction left no more records.
        self.at = self._end if after is None else max(after, self.at + 1)


def _rows(
    partition: int, answer: FetchedRecords, data: memoryview, offsets: range
) -> Iterator[RecordRow]:
    """The committed records in `data`. Raises one of DAMAGE_ERRORS."""
    aborted = [batches.AbortedTransaction(*each) for each in answer.aborted]
    for batch in batches.committed_batches(data, aborted):
        yield from batch_scan.candidates(
            partition, batch.header, batch.records(), prefilter=None, offsets=offsets
        )


def _range_message(topic: str, partition: int, log_range: range) -> Reason:
    parameters = {"topic": topic, "partition": partition}
    if log_range:
        return Reason("offsets_held", **parameters, first=log_range.start, last=log_range.stop - 1)
    return Reason("partition_empty", **parameters, next=log_range.stop)

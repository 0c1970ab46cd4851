"""Finds the offset of a record by its timestamp, or that of the largest timestamp (Kafka's
UnifiedLog.fetchOffsetByTimestamp): the one reading of a log that opens batches.

A small batch is walked at once, in less than a millisecond; a large one by another thread, and what
that found is kept until it is asked again. A batch whose records do not hold together is found as a
whole, by its base offset: it must not make a log unsearchable.
"""

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.io.page_cache import NotInPageCache
from brokerd.log.log_context import raises_storage_error
from brokerd.log.segments.log_segment import LogSegment
from brokerd.log.segments.log_segments import LogSegments
from brokerd.protocol.compression import TooManyBytes, decompress
from brokerd.protocol.records import HEADER_BYTES, BatchHeader, wrapped_timestamp
from brokerd.protocol.varint import read_varint

if TYPE_CHECKING:
    from brokerd.log.unified_log import UnifiedLog

AT_ONCE_RECORDS_MAX: Final = 1000
AT_ONCE_BYTES_MAX: Final = 64 << 10
UNPACKED_AT_ONCE_BYTES_MAX: Final = 256 << 10
KEPT_MAX: Final = 8
"""Of so many batches of a log it is kept what threads found."""


class Found(NamedTuple):
    offset: int
    timestamp_ms: int
    leader_epoch: int


class TimestampSearch(NamedTuple):
    """The first record of a batch at or after a timestamp and an offset."""

    header: BatchHeader
    timestamp_ms: int
    min_offset: int


@raises_storage_error
def first_at_or_after(
    log: "UnifiedLog", timestamp_ms: int, *, may_block: bool = True
) -> Found | None:
    """The first record from the log start on with a timestamp >= `timestamp_ms`. Raises
    KafkaError(KAFKA_STORAGE_ERROR); NotInPageCache if not may_block and it would wait."""
    log.check_end()
    segments, log_start_offset = log.local.segments, log.log_start_offset
    for segment in segments:
        if segment.largest_timestamp()[0] < timestamp_ms:
            continue
        floor = segment.time_floor(timestamp_ms)
        start = segment.locate(max(floor, log_start_offset), may_block=may_block)
        for position, header in segment.batches_from(start):
            if header.max_timestamp < timestamp_ms or header.last_offset < log_start_offset:
                continue
            search = TimestampSearch(
                header, timestamp_ms, max(log_start_offset, header.base_offset)
            )
            found = _walked(segments, segment, position, search, may_block=may_block)
            if found is not None:
                return found
    return None


@raises_storage_error
def largest(log: "UnifiedLog", *, may_block: bool = True) -> Found | None:
    """The first record with the largest timestamp of all in the segments, also before the log
    start, as in Kafka (UnifiedLog.fetchOffsetByTimestamp). Raises as `first_at_or_after`."""
    log.check_end()
    segments = log.local.segments
    best = max(segments, key=lambda segment: segment.largest_timestamp()[0])
    timestamp_ms, offset = best.largest_timestamp()
    if timestamp_ms < 0:
        return None
    for position, header in best.batches_from(best.locate(offset, may_block=may_block)):
        if header.max_timestamp >= timestamp_ms:
            search = TimestampSearch(header, timestamp_ms, header.base_offset)
            return _walked(segments, best, position, search, may_block=may_block)
    return None


def _walked(
    segments: LogSegments,
    segment: LogSegment,
    position: int,
    search: TimestampSearch,
    *,
    may_block: bool,
) -> Found | None:
    if search in segments.walked:
        return segments.walked[search]
    if may_block:
        return _walk(segment.file.fd(), position, search)
    header = search.header
    if header.count <= AT_ONCE_RECORDS_MAX and header.size_bytes <= AT_ONCE_BYTES_MAX:
        with suppress(TooManyBytes):
            return _walk(segment.file.fd(), position, search, UNPACKED_AT_ONCE_BYTES_MAX)
    raise NotInPageCache(PendingWalk(segments, segment, position, search))


class PendingWalk:
    """A `page_cache.PendingRead`: a thread walks the batch; requests with the same search share it,
    and what it found is kept, unless the log was cut meanwhile."""

    def __init__(
        self, segments: LogSegments, segment: LogSegment, position: int, search: TimestampSearch
    ) -> None:
        self.subject: object | None = (segment, search)
        self._walked = segments.walked
        self._search = search
        self._pinned = segment.file.pin(position, search.header.size_bytes)
        self._found: list[Found | None] = []

    def load(self) -> None:
        """Walk the batch. Raises OSError."""
        self._found = [_walk(self._pinned.fd, self._pinned.position_bytes, self._search)]

    def release(self) -> None:
        """Keep the result. A second call does nothing."""
        found, self._found = self._found, []
        if found and not self._pinned.is_cut:
            self._walked[self._search] = found[0]
            if len(self._walked) > KEPT_MAX:
                del self._walked[next(iter(self._walked))]
        self._pinned.release()


def _walk(
    fd: int, position: int, search: TimestampSearch, max_bytes: int | None = None
) -> Found | None:
    """May be called in any thread. Raises OSError; TooManyBytes where `max_bytes` are too few."""
    header = search.header
    batch = memoryview(os.pread(fd, header.size_bytes, position))
    try:
        records = decompress(header.codec, batch[HEADER_BYTES:], max_bytes)
        found = first_record(header, records, search.timestamp_ms, search.min_offset)
    except KafkaError as error:
        if isinstance(error, TooManyBytes) and max_bytes is not None:
            raise
        return Found(header.base_offset, header.max_timestamp, header.leader_epoch)
    return Found(*found, header.leader_epoch) if found is not None else None


def first_record(
    header: BatchHeader, data: bytes | memoryview, timestamp_ms: int, min_offset: int
) -> tuple[int, int] | None:
    """(offset, timestamp) of the first of the records in `data` (decompressed) with a timestamp
    >= `timestamp_ms` and an offset >= `min_offset`. Of the others no more is read than how long
    they are, and when. Raises KafkaError(INVALID_RECORD) if they are damaged before that."""
    stamped = header.is_log_append_time
    if stamped and header.max_timestamp < timestamp_ms:
        return None
    end = 0
    for index in range(header.count):
        size, at = read_varint(data, end)
        end = at + size
        if size <= 0 or end > len(data):
            raise _damaged(f"record {index} does not fit its batch")
        delta, at = read_varint(data, at + 1)  # behind the attributes
        time_ms = header.max_timestamp
        if not stamped:
            time_ms = wrapped_timestamp(header.base_timestamp + delta)
        if time_ms >= timestamp_ms:
            offset = header.base_offset + read_varint(data, at)[0]
            if offset >= min_offset:
                return offset, time_ms
    if end != len(data):
        raise _damaged(f"{len(data) - end} bytes follow the last record")
    return None


def _damaged(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_RECORD, message)

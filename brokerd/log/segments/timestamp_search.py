"""Finding records by timestamp: the one reading of a log that opens batches.

A small batch is walked at once, which takes less than a millisecond; of a large one, or one that
unpacks to much, another thread does it (`background_read`), and what it found is kept until it is
asked again. A batch whose records do not hold together is still found, as a whole: its base offset
stands for the record, since a batch that lies inside must not make a log unsearchable.
"""

import os
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from brokerd.errors import KafkaError
from brokerd.log.context import raises_storage_error
from brokerd.log.indexes.time_index import NO_TIMESTAMP
from brokerd.log.io.page_cache import NotInPageCache
from brokerd.log.io.scan import is_intact
from brokerd.log.segments.background_read import BackgroundRead, SegmentSnapshot
from brokerd.log.segments.batches import batches_from
from brokerd.log.segments.index_checks import confirm_timestamp, time_floor
from brokerd.log.segments.segment import Segment
from brokerd.log.segments.segment_list import SegmentList
from brokerd.protocol.compression import TooManyBytes, decompress
from brokerd.protocol.record_walk import first_at_or_after as first_record
from brokerd.protocol.records import HEADER_BYTES, BatchHeader

if TYPE_CHECKING:
    from brokerd.log.unified_log import UnifiedLog

AT_ONCE_RECORDS_MAX: Final = 1000
AT_ONCE_BYTES_MAX: Final = 64 << 10
UNPACKED_AT_ONCE_BYTES_MAX: Final = 256 << 10
KEPT_MAX: Final = 8
"""Of so many batches of a log it is kept what threads found."""


class Found(NamedTuple):
    """A record found by its timestamp, and the leader epoch it was written under."""

    offset: int
    timestamp_ms: int
    leader_epoch: int


class TimestampSearch(NamedTuple):
    """The first record of a batch at or after a timestamp and an offset."""

    header: BatchHeader
    timestamp_ms: int
    min_offset: int


class Walked(NamedTuple):
    """What there is of it; nothing in a batch whose bytes are not what they were."""

    found: Found | None
    is_intact: bool = True


@raises_storage_error
def first_at_or_after(
    log: "UnifiedLog", timestamp_ms: int, *, may_block: bool = True
) -> Found | None:
    """The first record from the log start on with a timestamp >= `timestamp_ms`. Raises
    KafkaError(KAFKA_STORAGE_ERROR); NotInPageCache if not may_block and it would wait for the
    disk."""
    log.check_end(may_block=may_block)
    segments, log_start_offset = log.local.segments, log.log_start_offset
    for segment in segments:
        if segment.largest_timestamp(may_block=may_block)[0] < timestamp_ms:
            continue
        floor = time_floor(segment, timestamp_ms, may_block=may_block)
        start = segment.locate(max(floor, log_start_offset), may_block=may_block)
        for position, header in segment.batches_from(start):
            if header.max_timestamp < timestamp_ms or header.last_offset < log_start_offset:
                continue
            search = TimestampSearch(
                header, timestamp_ms, max(log_start_offset, header.base_offset)
            )
            found = _walked(segments, segment, position, search, may_block=may_block).found
            if found is not None:
                return found
    return None


@raises_storage_error
def largest(log: "UnifiedLog", *, may_block: bool = True) -> Found | None:
    """The first record that has the largest timestamp of all that lie in the segments, be it before
    the log start, as in Kafka (UnifiedLog.fetchOffsetByTimestamp). Raises as
    `first_at_or_after`."""
    log.check_end(may_block=may_block)
    segments = log.local.segments
    for _ in range(len(segments) + 1):  # each may turn out to have another one
        best = _latest_of(segments, may_block=may_block)
        if confirm_timestamp(best, may_block=may_block):
            best = _latest_of(segments, may_block=may_block)
        timestamp_ms, offset = best.largest_timestamp()
        if timestamp_ms < 0:
            return None
        for position, header in best.batches_from(best.locate(offset, may_block=may_block)):
            if header.max_timestamp >= timestamp_ms:
                search = TimestampSearch(header, timestamp_ms, header.base_offset)
                walked = _walked(segments, best, position, search, may_block=may_block)
                if not walked.is_intact:
                    break
                return walked.found
        pending = _intact_read(best)
        if not may_block:
            raise NotInPageCache(pending)
        pending.load()
        pending.release()
    return None


def _latest_of(segments: SegmentList, *, may_block: bool) -> Segment:
    return max(segments, key=lambda segment: segment.largest_timestamp(may_block=may_block)[0])


def _intact_read(segment: Segment) -> BackgroundRead[tuple[int, int]]:
    """What says the largest timestamp of an intact batch."""
    data = SegmentSnapshot(segment)

    def read() -> tuple[int, int]:
        try:
            return _largest_intact(data)
        finally:
            data.close()

    def take(largest: tuple[int, int]) -> None:
        segment.largest_timestamp_ms, segment.largest_timestamp_offset = largest

    return BackgroundRead(
        segment, read, take,
        lambda: segment.is_abandoned or segment.size_bytes != data.size_bytes,
    )  # fmt: skip


def _largest_intact(data: SegmentSnapshot) -> tuple[int, int]:
    """(timestamp, offset) of the largest one of a batch whose bytes are right, where that which the
    segment goes by is of one that is damaged."""
    damaged: set[int] = set()
    while True:
        batches = (each for each in batches_from(data, 0) if each[0] not in damaged)
        position, header = max(
            batches, key=lambda each: each[1].max_timestamp, default=(0, None)
        )  # the first of those that have it
        if header is None:
            return NO_TIMESTAMP, data.base_offset
        if is_intact(data.file.fd(), position, header):
            return header.max_timestamp, header.last_offset
        damaged.add(position)


def _walked(
    segments: SegmentList,
    segment: Segment,
    position: int,
    search: TimestampSearch,
    *,
    may_block: bool,
) -> Walked:
    known = segments.walked.get(search)
    if known is not None:
        return known
    if may_block:
        return _walk(segment.file.fd(), position, search)
    header = search.header
    if header.count <= AT_ONCE_RECORDS_MAX and header.size_bytes <= AT_ONCE_BYTES_MAX:
        try:
            return _walk(segment.file.fd(), position, search, UNPACKED_AT_ONCE_BYTES_MAX)
        except TooManyBytes:
            pass
    raise NotInPageCache(_walk_read(segments, segment, position, search))


def _walk_read(
    segments: SegmentList, segment: Segment, position: int, search: TimestampSearch
) -> BackgroundRead[Walked]:
    data = SegmentSnapshot(segment)

    def read() -> Walked:
        try:
            return _walk(data.fd(), position, search)
        finally:
            data.close()

    return BackgroundRead(
        (segment, search), read, partial(_keep, segments.walked, search),
        lambda: segment.is_abandoned or segment.size_bytes < data.size_bytes,
    )  # fmt: skip


def _keep(kept: dict[TimestampSearch, Walked], search: TimestampSearch, walked: Walked) -> None:
    kept[search] = walked
    if len(kept) > KEPT_MAX:
        del kept[next(iter(kept))]


def _walk(fd: int, position: int, search: TimestampSearch, max_bytes: int | None = None) -> Walked:
    """May be called in any thread. Raises OSError; TooManyBytes where `max_bytes` are too few."""
    header = search.header
    if not is_intact(fd, position, header):
        return Walked(None, is_intact=False)  # nobody can read it, and its time may be any
    batch = memoryview(os.pread(fd, header.size_bytes, position))
    try:
        records = decompress(header.codec, batch[HEADER_BYTES:], max_bytes)
        found = first_record(header, records, search.timestamp_ms, search.min_offset)
    except KafkaError as error:
        if isinstance(error, TooManyBytes) and max_bytes is not None:
            raise
        return Walked(Found(header.base_offset, header.max_timestamp, header.leader_epoch))
    return Walked(Found(*found, header.leader_epoch) if found is not None else None)

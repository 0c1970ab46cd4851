"""Finding records by timestamp: the one reading of a log that opens batches.

A batch whose records do not hold together is still found, as a whole: its base offset stands for
the record, since a batch that lies inside must not make a log unsearchable.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from brokerd.errors import KafkaError
from brokerd.log.aside import AsideSpot, DataAside, batches_aside
from brokerd.log.cold import ColdError
from brokerd.log.damage import Data, Placed
from brokerd.log.index_checks import confirm_timestamp, time_floor
from brokerd.log.scan import is_intact
from brokerd.log.segment import Segment
from brokerd.log.segment_list import SegmentList
from brokerd.log.time_index import NO_TIMESTAMP
from brokerd.protocol.records import BatchHeader, Record, iter_records


class Found(NamedTuple):
    """A record found by its timestamp, and the leader epoch it was written under."""

    offset: int
    timestamp_ms: int
    leader_epoch: int


def first_at_or_after(
    segments: SegmentList, timestamp_ms: int, log_start_offset: int, *, patient: bool
) -> Found | None:
    """The first record from the log start on with a timestamp >= `timestamp_ms`. Raises OSError;
    ColdError, unless patient, where that reads for long."""
    for segment in segments:
        if segment.largest_timestamp(patient=patient)[0] < timestamp_ms:
            continue
        floor = time_floor(segment, timestamp_ms, patient=patient)
        start = segment.locate(max(floor, log_start_offset), patient=patient)
        for position, header in segment.batches_from(start):
            if header.max_timestamp < timestamp_ms or header.last_offset < log_start_offset:
                continue
            if not is_intact(segment.file.fd(), position, header):
                continue  # nobody can read it, and its time may be any
            found = _first_record(
                segment, position, header,
                lambda record: (
                    record.timestamp_ms >= timestamp_ms and record.offset >= log_start_offset
                ),
            )  # fmt: skip
            if found is not None:
                return found
    return None


def largest(segments: SegmentList, *, patient: bool) -> Found | None:
    """The first record that has the largest timestamp of all that lie in the segments, be it before
    the log start, as in Kafka (UnifiedLog.fetchOffsetByTimestamp). Raises as
    `first_at_or_after`."""
    for _ in range(len(segments) + 1):  # each may turn out to have another one
        best = _latest_of(segments, patient=patient)
        if confirm_timestamp(best, patient=patient):
            best = _latest_of(segments, patient=patient)
        timestamp_ms, offset = best.largest_timestamp()
        if timestamp_ms < 0:
            return None
        for position, header in best.batches_from(best.locate(offset, patient=patient)):
            if header.max_timestamp >= timestamp_ms:
                if not is_intact(best.file.fd(), position, header):
                    break
                return _first_record(best, position, header, partial(_is_since, timestamp_ms))
        if not patient:
            raise ColdError(_intact_spot(best))
        _take_largest(best, _largest_intact(best, partial(best.batches_from, 0)))
    return None


def _latest_of(segments: SegmentList, *, patient: bool) -> Segment:
    return max(segments, key=lambda segment: segment.largest_timestamp(patient=patient)[0])


def _intact_spot(segment: Segment) -> AsideSpot[tuple[int, int]]:
    """What says the largest timestamp of an intact batch."""
    data = DataAside(segment)

    def read() -> tuple[int, int]:
        try:
            return _largest_intact(data, partial(batches_aside, data))
        finally:
            data.close()

    return AsideSpot(
        segment, read, partial(_take_largest, segment),
        lambda: segment.is_abandoned or segment.size_bytes != data.size_bytes,
    )  # fmt: skip


def _take_largest(segment: Segment, largest: tuple[int, int]) -> None:
    segment.largest_timestamp_ms, segment.largest_timestamp_offset = largest


def _is_since(timestamp_ms: int, record: Record) -> bool:
    return record.timestamp_ms >= timestamp_ms


def _largest_intact(
    data: Data, all_batches: Callable[[], Iterator[Placed]]
) -> tuple[int, int]:
    """(timestamp, offset) of the largest one of a batch whose bytes are right, where that which the
    segment goes by is of one that is damaged."""
    damaged: set[int] = set()
    while True:
        batches = (each for each in all_batches() if each[0] not in damaged)
        position, header = max(
            batches, key=lambda each: each[1].max_timestamp, default=(0, None)
        )  # the first of those that have it
        if header is None:
            return NO_TIMESTAMP, data.base_offset
        if is_intact(data.file.fd(), position, header):
            return header.max_timestamp, header.last_offset
        damaged.add(position)


def _first_record(
    segment: Segment, position: int, header: BatchHeader, wanted: Callable[[Record], bool]
) -> Found | None:
    epoch = header.leader_epoch
    with_bytes = segment.file.pin(position, header.size_bytes)
    try:
        for record in iter_records(header, memoryview(with_bytes.read())):
            if wanted(record):
                return Found(record.offset, record.timestamp_ms, epoch)
    except KafkaError:
        return Found(header.base_offset, header.max_timestamp, epoch)
    finally:
        with_bytes.release()
    return None

"""The rule of `index.interval.bytes`, by which segments are indexed as they are written, rebuilt
(by `segments/batches`) or cleaned.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from brokerd.log.indexes.offset_index import OffsetIndex
from brokerd.log.indexes.time_index import TimeIndex
from brokerd.protocol.records import NO_TIMESTAMP

if TYPE_CHECKING:
    from brokerd.log.segments.log_segment import LogSegment

Row = tuple[int, int, int]
"""Of a batch: last offset, size in bytes, max timestamp."""


def index_batches(data: "LogSegment | RebuiltIndexes", rows: Sequence[Row]) -> None:
    """Takes in the next batches. A batch gets an index entry if more than `index_interval_bytes`
    lie between it and the last one that has one (LogSegment.append); the first batch gets none: a
    look-up that finds no entry starts there."""
    position = data.size_bytes
    since = data.bytes_since_index
    if position == 0:
        data.first_batch_timestamp_ms = rows[0][2]
    for last_offset, size, timestamp_ms in rows:
        if timestamp_ms > data.largest_timestamp_ms:
            data.largest_timestamp_ms = timestamp_ms
            data.largest_timestamp_offset = last_offset
        if since > data.index_interval_bytes:
            data.index.append(last_offset, position)
            data.time_index.append(data.largest_timestamp_ms, data.largest_timestamp_offset)
            since = 0
        since += size
        position += size
    data.bytes_since_index = since
    data.size_bytes = position


class RebuiltIndexes:
    """The indexes of a segment while they are built again from its batches, empty at first."""

    def __init__(
        self, base_offset: int, index: OffsetIndex, time_index: TimeIndex, index_interval_bytes: int
    ) -> None:
        self.index = index
        self.time_index = time_index
        self.index_interval_bytes = index_interval_bytes
        self.size_bytes = 0
        self.bytes_since_index = 0
        self.first_batch_timestamp_ms: int | None = None
        self.largest_timestamp_ms = NO_TIMESTAMP
        self.largest_timestamp_offset = base_offset

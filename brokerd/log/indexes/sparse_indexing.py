"""When an index entry is due: the one rule by which segments are indexed, as they are written, made
anew from their data or cleaned.
"""

from collections.abc import Sequence
from typing import Final

from brokerd.log.indexes.offset_index import OffsetIndex
from brokerd.log.indexes.time_index import NO_TIMESTAMP, TimeIndex

OVERDUE: Final = 1 << 62
"""As `bytes_since_index`: the next batch gets an entry."""

Row = tuple[int, int, int]
"""Of a batch: last offset, size in bytes, max timestamp."""


class SparselyIndexed:
    """Batches one behind the other. One gets an index entry when more than so many bytes lie
    between it and the last one that has one (LogSegment.append); the first one gets none: a look-up
    that finds no entry starts there.
    """

    __slots__ = (
        "bytes_since_index", "first_timestamp_ms", "index_interval_bytes", "largest_timestamp_ms",
        "largest_timestamp_offset", "size_bytes",
    )  # fmt: skip

    def __init__(self, base_offset: int, size_bytes: int, index_interval_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.index_interval_bytes = index_interval_bytes
        self.bytes_since_index = 0
        self.first_timestamp_ms: int | None = None
        self.largest_timestamp_ms = NO_TIMESTAMP
        self.largest_timestamp_offset = base_offset

    @property
    def index(self) -> OffsetIndex:
        raise NotImplementedError

    @property
    def time_index(self) -> TimeIndex:
        raise NotImplementedError

    def account(self, rows: Sequence[Row]) -> None:
        """Take in the batches that follow those before."""
        position = self.size_bytes
        since = self.bytes_since_index
        if position == 0:
            self.first_timestamp_ms = rows[0][2]
        for last_offset, size, timestamp_ms in rows:
            if timestamp_ms > self.largest_timestamp_ms:
                self.largest_timestamp_ms = timestamp_ms
                self.largest_timestamp_offset = last_offset
            if since > self.index_interval_bytes:
                self.index.append(last_offset, position)
                self.time_index.append(self.largest_timestamp_ms, self.largest_timestamp_offset)
                since = 0
            since += size
            position += size
        self.bytes_since_index = since
        self.size_bytes = position


class NewlyIndexed(SparselyIndexed):
    """Both indexes are there from the first batch on, empty at first."""

    __slots__ = ("_index", "_time_index")

    def __init__(
        self,
        base_offset: int,
        index: OffsetIndex,
        time_index: TimeIndex,
        index_interval_bytes: int,
    ) -> None:
        super().__init__(base_offset, 0, index_interval_bytes)
        self._index = index
        self._time_index = time_index

    @property
    def index(self) -> OffsetIndex:
        return self._index

    @property
    def time_index(self) -> TimeIndex:
        return self._time_index

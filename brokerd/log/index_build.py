"""The indexes of a segment made anew from its batches.

They are made aside, and no file is touched: a read that fails half-way (the disk, or no memory)
must leave the segment as it was, with the end at which the next append is written.
"""

from collections.abc import Iterable

from brokerd.log.offset_index import OffsetIndex
from brokerd.log.time_index import NO_TIMESTAMP, TimeIndex
from brokerd.protocol.records import BatchHeader


class IndexBuild:
    """Both indexes, and what a segment knows besides; `end` is where the last batch ends."""

    __slots__ = (
        "bytes_since_index", "end", "first_timestamp_ms", "index", "largest_timestamp_ms",
        "largest_timestamp_offset", "time_index",
    )  # fmt: skip

    def __init__(self, index: OffsetIndex, time_index: TimeIndex, base_offset: int) -> None:
        """For two indexes in which nothing is yet."""
        self.index = index
        self.time_index = time_index
        self.end = self.bytes_since_index = 0
        self.largest_timestamp_ms = NO_TIMESTAMP
        self.largest_timestamp_offset = base_offset
        self.first_timestamp_ms: int | None = None

    def take(self, batches: Iterable[tuple[int, BatchHeader]], interval_bytes: int) -> None:
        """Take all batches of the data in, with an entry about every so many bytes.

        One that does not begin where the one before it ends gets an entry, without which nobody
        finds it. Raises what the reading of the batches raises.
        """
        for position, header in batches:
            if self.first_timestamp_ms is None:
                self.first_timestamp_ms = header.max_timestamp
            if header.max_timestamp > self.largest_timestamp_ms:
                self.largest_timestamp_ms = header.max_timestamp
                self.largest_timestamp_offset = header.last_offset
            if position > self.end or self.bytes_since_index > interval_bytes:
                self.index.note(header.last_offset, position)
                self.time_index.note(self.largest_timestamp_ms, self.largest_timestamp_offset)
                self.bytes_since_index = 0
            self.bytes_since_index += header.size_bytes
            self.end = position + header.size_bytes
        self.time_index.note(self.largest_timestamp_ms, self.largest_timestamp_offset)

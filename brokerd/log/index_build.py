"""The indexes of a segment made anew from its batches.

They are made aside, and no file is touched: a read that fails half-way (the disk, or no memory)
must leave the segment as it was, with the end at which the next append is written. That takes
seconds for a large segment, so who may not wait has it done by another thread (`IndexSpot`).
"""

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from brokerd.log import damage, names
from brokerd.log.offset_index import OffsetIndex
from brokerd.log.time_index import NO_TIMESTAMP, TimeIndex
from brokerd.protocol.records import BatchHeader

if TYPE_CHECKING:
    from brokerd.log.indexed_data import IndexedData
    from brokerd.log.open_files import FileRange

logger = logging.getLogger(__name__)


class IndexBuild:
    """Both indexes, and what a segment knows besides; `end` is where the last batch ends."""

    __slots__ = (
        "bytes_since_index", "end", "first_timestamp_ms", "index", "largest_timestamp_ms",
        "largest_timestamp_offset", "time_index",
    )  # fmt: skip

    def __init__(self, directory: str, base_offset: int) -> None:
        self.index = OffsetIndex(
            names.segment_file(directory, base_offset, names.INDEX), base_offset
        )
        self.time_index = TimeIndex(
            names.segment_file(directory, base_offset, names.TIME_INDEX), base_offset
        )
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

    def finish(self) -> None:
        """All is taken in: the last entry of the time index says the largest timestamp."""
        self.time_index.note(self.largest_timestamp_ms, self.largest_timestamp_offset)


class IndexSpot:
    """Indexes of a segment that are made anew in any thread, and taken over where logs are used.

    See `cold.Spot`. `known` is what the offset index says, right or wrong; None where that is to
    be read.
    """

    __slots__ = ("_built", "_data", "_known", "_pinned", "_reason", "_segment", "subject")

    def __init__(self, segment: "IndexedData", known: OffsetIndex | None, reason: str) -> None:
        """Raises OSError."""
        self.subject: object | None = segment
        self._segment = segment
        self._known = known
        self._reason = reason
        self._pinned = segment.file.pin(0, segment.size_bytes)
        self._data = _PinnedData(segment, self._pinned)
        self._built: IndexBuild | None = None

    def warm(self) -> None:
        """Read the data as they were. Raises OSError."""
        logger.warning("%s; the indexes are made anew from the data", self._reason)
        segment = self._segment
        if not self._known:
            path = segment.path(names.INDEX)
            self._known = OffsetIndex.salvage(path, segment.base_offset)
        built = IndexBuild(segment.directory, segment.base_offset)
        batches = damage.sound_batches(self._data, self._known, 0)
        built.take(batches, segment.index_interval_bytes)
        self._built = built

    def release(self) -> None:
        """Let the segment have them, unless it is another meanwhile. A second call does nothing."""
        built, self._built = self._built, None
        is_void = self._segment.is_abandoned or self._pinned.is_cut
        self._pinned.release()
        if built is None or is_void or self._known is None:
            return
        segment = self._segment
        segment.told |= self._data.told
        try:  # what was appended meanwhile is little
            behind = damage.sound_batches(segment, self._known, self._data.size_bytes)
            built.take(behind, segment.index_interval_bytes)
            segment.take_over(built)
        except OSError as error:  # whoever looks next is told
            logger.warning("the indexes of %s cannot be written: %s", segment.file.path, error)


class _PinnedData:
    """The data of a segment up to where they end now, for another thread."""

    def __init__(self, segment: "IndexedData", pinned: "FileRange") -> None:
        self.base_offset = segment.base_offset
        self.highest_offset = segment.highest_offset
        self.size_bytes = segment.size_bytes
        self.told = segment.told
        self.file = self
        self.path = segment.file.path
        self._fd = pinned.fd

    def fd(self) -> int:
        return self._fd

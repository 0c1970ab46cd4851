"""The indexes of a segment made anew from its batches.

They are made in memory, and no file is touched: a read that fails half-way (the disk, or no memory)
must leave the segment as it was, with the end at which the next append is written. That takes
seconds for a large segment, so who may not wait has it done by another thread
(`BackgroundIndexBuild`).
"""

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from brokerd.log import names
from brokerd.log.indexes.offset_index import IN_MEMORY, OffsetIndex
from brokerd.log.indexes.sparse_indexing import OVERDUE, NewlyIndexed, Row, account
from brokerd.log.indexes.time_index import TimeIndex
from brokerd.log.segments import damage
from brokerd.log.segments.background_read import SegmentSnapshot
from brokerd.protocol.records import BatchHeader

if TYPE_CHECKING:
    from brokerd.log.segments.segment import Segment

logger = logging.getLogger(__name__)

ROWS_MAX: Final = 1_000
"""So many batches are accounted for at a time."""


class IndexBuild(NewlyIndexed):
    """Both indexes, and what a segment knows besides; `size_bytes` is where the last batch ends."""

    __slots__ = ()

    def __init__(self, directory: str, base_offset: int, index_interval_bytes: int) -> None:
        path = names.segment_file(directory, base_offset, names.INDEX)
        index = OffsetIndex(path, base_offset, IN_MEMORY)
        path = names.segment_file(directory, base_offset, names.TIME_INDEX)
        time_index = TimeIndex(path, base_offset, IN_MEMORY)
        super().__init__(base_offset, index, time_index, index_interval_bytes)

    def take(self, batches: Iterable[tuple[int, BatchHeader]]) -> None:
        """Take all batches of the data in.

        One that does not begin where the one before it ends gets an entry, without which nobody
        finds it. Raises what the reading of the batches raises.
        """
        rows: list[Row] = []
        end = self.size_bytes
        for position, header in batches:
            if position > end or len(rows) == ROWS_MAX:
                self._take_rows(rows)
                rows = []
            if position > end:
                if self.first_timestamp_ms is None:
                    self.first_timestamp_ms = header.max_timestamp
                self.size_bytes, self.bytes_since_index = position, OVERDUE
            rows.append((header.last_offset, header.size_bytes, header.max_timestamp))
            end = position + header.size_bytes
        self._take_rows(rows)

    def _take_rows(self, rows: list[Row]) -> None:
        if rows:
            account(self, rows)

    def finish(self) -> None:
        """All is taken in: the last entry of the time index says the largest timestamp."""
        self.time_index.append(self.largest_timestamp_ms, self.largest_timestamp_offset)


class BackgroundIndexBuild:
    """Indexes of a segment that are made anew in any thread, and taken over where logs are used.

    See `page_cache.PendingRead`. `known` is what the offset index says, right or wrong; None where
    that is to be read.
    """

    __slots__ = ("_built", "_data", "_known", "_pinned", "_reason", "_segment", "subject")

    def __init__(self, segment: "Segment", known: OffsetIndex | None, reason: str) -> None:
        """Raises OSError."""
        self.subject: object | None = segment
        self._segment = segment
        self._known = known
        self._reason = reason
        self._pinned = segment.file.pin(0, segment.size_bytes)
        self._data = SegmentSnapshot(segment, self._pinned)
        self._built: IndexBuild | None = None

    def load(self) -> None:
        """Read the data as they were. Raises OSError."""
        logger.warning("%s; the indexes are made anew from the data", self._reason)
        segment = self._segment
        if self._known is None:
            path = segment.path(names.INDEX)
            self._known = OffsetIndex.salvage(path, segment.base_offset)
        built = IndexBuild(segment.directory, segment.base_offset, segment.index_interval_bytes)
        built.take(damage.sound_batches(self._data, self._known, 0))
        self._built = built

    def release(self) -> None:
        """Let the segment have them, unless it is another meanwhile. A second call does nothing."""
        built, self._built = self._built, None
        is_void = self._segment.is_abandoned or self._pinned.is_cut
        self._pinned.release()
        if built is None or is_void or self._known is None:
            return
        segment = self._segment
        segment.logged_damage |= self._data.logged_damage
        try:  # what was appended meanwhile is little
            behind = damage.sound_batches(segment, self._known, self._data.size_bytes)
            built.take(behind)
            segment.take_over(built)
        except OSError as error:  # the next look-up gets it
            logger.warning("the indexes of %s cannot be written: %s", segment.file.path, error)

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
from brokerd.log.indexes.sparse_indexing import NewlyIndexed, Row, account
from brokerd.log.indexes.time_index import TimeIndex
from brokerd.log.segments.background_read import SegmentSnapshot
from brokerd.log.segments.batches import Data, batches_from, fits
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
        """Take in batches that follow those before. Raises what the reading of them raises."""
        rows: list[Row] = []
        for _, header in batches:
            if len(rows) == ROWS_MAX:
                self._take_rows(rows)
                rows = []
            rows.append((header.last_offset, header.size_bytes, header.max_timestamp))
        self._take_rows(rows)

    def keep(self, data: Data, known: OffsetIndex | None) -> None:
        """Keeps the entries of `known` for batches after the first damaged one: those batches are
        not read again. Raises OSError."""
        if known is None or self.size_bytes >= data.size_bytes:
            return
        latest = self.index.last_offset_before(self.size_bytes)
        for last_offset, position in known.entries_behind(self.size_bytes):
            if last_offset > latest and fits(data, last_offset, position):
                self.index.append(last_offset, position)
                latest = last_offset

    def _take_rows(self, rows: list[Row]) -> None:
        if rows:
            account(self, rows)

    def finish(self) -> None:
        """All is taken in: the last entry of the time index says the largest timestamp."""
        self.time_index.append(self.largest_timestamp_ms, self.largest_timestamp_offset)


class BackgroundIndexBuild:
    """Indexes of a segment that are made anew in any thread, and taken over where logs are used.

    See `page_cache.PendingRead`. `known` is the offset index as it is, right or wrong; None where
    it could not be loaded.
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
        built = IndexBuild(segment.directory, segment.base_offset, segment.index_interval_bytes)
        built.take(batches_from(self._data, 0))
        self._built = built

    def release(self) -> None:
        """Let the segment have them, unless it is another meanwhile. A second call does nothing."""
        built, self._built = self._built, None
        is_void = self._segment.is_abandoned or self._pinned.is_cut
        self._pinned.release()
        if built is None or is_void:
            return
        segment = self._segment
        try:  # what was appended meanwhile is little
            built.take(batches_from(segment, built.size_bytes))
            built.keep(segment, self._known)
            segment.take_over(built)
        except OSError as error:  # the next look-up gets it
            logger.warning("the indexes of %s cannot be written: %s", segment.file.path, error)

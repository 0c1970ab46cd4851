"""One segment of a log: a data file of batches end to end, with what `indexed_data` has of it.

Invariants: the data file holds whole batches with rising offsets, all >= the base offset in its
name; `size_bytes` is what was written and accounted for (a failed write is cut off again); the
indexes are loaded, or rebuilt from the data if they do not hold together, at first use.

Looking up an offset: a memo of where recent appends began (readers at the tail), then the last page
of headers walked (small sequential reads), then the offset index and a walk of one chunk.
"""

import errno
import os
import struct
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from brokerd.log import crash_points, names
from brokerd.log.indexes.offset_index import OffsetIndex
from brokerd.log.indexes.time_index import TimeIndex
from brokerd.log.io.files import make_empty
from brokerd.log.io.open_files import OpenFiles
from brokerd.log.io.page_cache import require_cached, require_cached_index
from brokerd.log.segments import damage, index_checks
from brokerd.log.segments.header_page import read_page
from brokerd.log.segments.indexed_data import IndexedData
from brokerd.protocol.records import LENGTH_OVERHEAD_BYTES

MEMO_MAX: Final = 64

_LENGTH: Final = struct.Struct(">8xi")
_cut = crash_points.around("cut")(os.ftruncate)


class Segment(IndexedData):
    """See the module. Offsets are absolute, positions are bytes in the data file."""

    __slots__ = ()

    @classmethod
    def create(cls, files: OpenFiles, directory: str, base_offset: int, now_ms: int) -> "Segment":
        """A new, empty segment with its three files. Raises OSError."""
        for suffix in (names.LOG, names.INDEX, names.TIME_INDEX):
            make_empty(names.segment_file(directory, base_offset, suffix))
        segment = cls(files, directory, base_offset, 0, now_ms)
        segment._index = OffsetIndex(segment.path(names.INDEX), base_offset)
        segment._time_index = TimeIndex(segment.path(names.TIME_INDEX), base_offset)
        return segment

    # -- writing ---------------------------------------------------------------------------------

    @crash_points.around("append")
    def write(self, buffers: Sequence[memoryview | bytearray], size_bytes: int) -> None:
        """Put buffers of `size_bytes` in all at the end, or nothing at all.

        Raises OSError; the file is then as long as before.
        """
        fd = self.file.fd()
        try:
            written = os.pwritev(fd, buffers, self.size_bytes)
        except OSError as error:
            self._cut_back(fd)
            error.filename = self.file.path
            raise
        if written != size_bytes:
            self._cut_back(fd)
            reason = f"only {written} of {size_bytes} bytes could be written, the disk may be full"
            raise OSError(errno.ENOSPC, reason, self.file.path)

    def _cut_back(self, fd: int) -> None:
        with suppress(OSError):  # what then stays behind the end is overwritten, or recovered
            os.ftruncate(fd, self.size_bytes)

    def remember(self, offset: int, position_bytes: int) -> None:
        """Note that the batch with base offset `offset` starts at `position_bytes`."""
        memo = self._memo
        memo[offset] = position_bytes
        if len(memo) > MEMO_MAX:
            del memo[next(iter(memo))]

    # -- looking up --------------------------------------------------------------------------------

    def locate(self, offset: int, *, may_block: bool = True, refuse: bool = False) -> int:
        """Position of the first batch that ends at or after `offset`; `size_bytes` if none does.

        Raises NotInPageCache if not may_block and it would wait for the disk, and, to
        `refuse`, KafkaError(CORRUPT_MESSAGE) where the data have been lost there.
        """
        position = self._memo.get(offset)
        if position is not None:
            return position
        page = self._page
        lasts = page.lasts
        if lasts and page.base <= offset <= lasts[-1]:
            return page.positions[bisect_left(lasts, offset)]
        if self._index is None and not may_block:
            require_cached_index(self)
            self._load_index(may_block=False)
        position = index_checks.start_for(self, offset, may_block=may_block)
        last = position - 1
        before: int | None = None
        while position < self.size_bytes:
            if not may_block:
                require_cached(self, position)
            page = read_page(self, position, before)
            self._page = page
            if page.lasts:
                if page.lasts[-1] >= offset:
                    return page.positions[bisect_left(page.lasts, offset)]
                last = page.positions[-1]
                position, before = page.following
                continue
            if page.end > position:
                last, position = position, page.end
                continue
            damaged, end = position, self.size_bytes
            position = damage.behind(self, self.index, damaged, last, end)
            if refuse and position == end:
                damage.refuse_blank(self, damaged)
        return self.size_bytes

    def last_offset_behind(self, position: int) -> int | None:
        """The last offset of some batch at or behind a position; None when none is known."""
        return self.index.offset_behind(position)

    def end_within(self, position: int, limit: int) -> int:
        """The last known batch boundary in (position, limit]; 0 when none is known."""
        boundary = max(
            self.index.boundary_at_most(limit), self._page.boundary_at_most(position, limit)
        )
        return boundary if boundary > position else 0

    def batch_size_at(self, position: int) -> int:
        """Size in bytes of the batch that starts at `position`."""
        length: int = _LENGTH.unpack(os.pread(self.file.fd(), _LENGTH.size, position))[0]
        return length + LENGTH_OVERHEAD_BYTES

    # -- cutting ---------------------------------------------------------------------------

    def truncate_to(self, offset: int) -> int:
        """Cut off the batch that holds `offset` and all behind it; returns where it now ends.

        Raises OSError.
        """
        self.locate(offset)  # an index that is wrong is made anew
        position, offset = damage.end_below(self, self.index, offset)
        if position < self.size_bytes:
            self.file.cut(position)
            _cut(self.file.fd(), position)
            self.index.truncate_to(offset)
            self.time_index.truncate_to(offset)
            kept = [each for each in self.aborted if each.last_offset < offset]
            if len(kept) < len(self.aborted):
                self.set_aborted(kept, len(kept))
            self.size_bytes = position
            self.write_back_from = min(self.write_back_from, position)
            self.forget_page()
            self._memo.clear()
            if position == 0:
                self.first_timestamp_ms = None
        return self.read_tail()

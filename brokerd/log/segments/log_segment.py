"""One segment of a log: a data file of batches end to end, with its indexes and its aborted
transactions.

Invariants: the data file holds whole batches with rising offsets, all >= the base offset in its
name; `size_bytes` is what was written and accounted for (a failed write is cut off again).
An offset is looked up in a memo of where recent appends began (readers at the tail), then in the
batches whose headers were read last (small sequential reads), then by the offset index.
"""

import errno
import logging
import os
import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from brokerd.log import file_names
from brokerd.log.indexes import transaction_index
from brokerd.log.indexes.index_interval import RebuiltIndexes
from brokerd.log.indexes.offset_index import CorruptIndexError, OffsetIndex
from brokerd.log.indexes.time_index import TimeIndex
from brokerd.log.indexes.transaction_index import AbortedTxn
from brokerd.log.io.files import make_empty
from brokerd.log.io.open_files import LogFile, OpenFiles
from brokerd.log.io.page_cache import require_cached, require_cached_index
from brokerd.log.io.scan_batches import walk_headers
from brokerd.log.segments import batches
from brokerd.log.segments.batch_positions import NO_POSITIONS, read_positions
from brokerd.log.segments.batches import build_indexes
from brokerd.protocol.records import HEADER_BYTES, LENGTH_OVERHEAD_BYTES, NO_TIMESTAMP, BatchHeader

logger = logging.getLogger(__name__)

MEMO_MAX: Final = 64
INTERVAL_BYTES: Final = 4096
"""index.interval.bytes, where nobody says otherwise."""
_LENGTH: Final = struct.Struct(">8xi")


class LogSegment:
    """Offsets are absolute, positions are bytes in the data file."""

    __slots__ = (
        "_aborted", "_index", "_memo", "_positions", "_time_index", "_timestamps_known",
        "base_offset", "bytes_since_index", "created_ms", "directory", "file",
        "first_batch_timestamp_ms", "index_interval_bytes", "is_abandoned", "largest_timestamp_ms",
        "largest_timestamp_offset", "size_bytes", "write_back_from",
    )  # fmt: skip

    def __init__(
        self, files: OpenFiles, directory: str, base_offset: int, size_bytes: int, created_ms: int
    ) -> None:
        self.directory = directory
        self.base_offset = base_offset
        self.size_bytes = self.write_back_from = size_bytes
        self.created_ms = created_ms
        self.index_interval_bytes = INTERVAL_BYTES
        self.bytes_since_index = 0
        self.first_batch_timestamp_ms: int | None = None
        self.largest_timestamp_ms = NO_TIMESTAMP
        self.largest_timestamp_offset = base_offset
        self.file = LogFile(files, self.path(file_names.LOG), self.forget_lookups)
        self._timestamps_known = size_bytes == 0
        self._aborted: list[AbortedTxn] | None = None
        self._index: OffsetIndex | None = None
        self._time_index: TimeIndex | None = None
        self._memo: dict[int, int] = {}
        self._positions = NO_POSITIONS
        self.is_abandoned = False

    @classmethod
    def create(
        cls, files: OpenFiles, directory: str, base_offset: int, now_ms: int
    ) -> "LogSegment":
        """A new, empty segment with its three files. Raises OSError."""
        for suffix in (file_names.LOG, file_names.INDEX, file_names.TIME_INDEX):
            make_empty(file_names.segment_file(directory, base_offset, suffix))
        segment = cls(files, directory, base_offset, 0, now_ms)
        segment._index = OffsetIndex(segment.path(file_names.INDEX), base_offset)
        segment._time_index = TimeIndex(segment.path(file_names.TIME_INDEX), base_offset)
        return segment

    def path(self, suffix: str) -> str:
        return file_names.segment_file(self.directory, self.base_offset, suffix)

    # -- writing ---------------------------------------------------------------------------------

    def write(self, buffers: Sequence[memoryview | bytearray], size_bytes: int) -> None:
        """Puts buffers at the end, or nothing. Raises OSError; the file is then as before."""
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

    def remember_position(self, offset: int, position_bytes: int) -> None:
        """Note that the batch with base offset `offset` starts at `position_bytes`."""
        memo = self._memo
        memo[offset] = position_bytes
        if len(memo) > MEMO_MAX:
            del memo[next(iter(memo))]

    # -- looking up --------------------------------------------------------------------------------

    def locate(self, offset: int, *, may_block: bool = True, refuse: bool = False) -> int:
        """Position of the first batch that ends at or after `offset`; `size_bytes` if none does.
        Raises NotInPageCache if not may_block and it would wait for the disk, and, to `refuse`,
        KafkaError(CORRUPT_MESSAGE) where the data have been lost there."""
        position = self._memo.get(offset)
        if position is not None:
            return position
        known = self._positions
        lasts = known.lasts
        if lasts and known.base <= offset <= lasts[-1]:
            return known.positions[bisect_left(lasts, offset)]
        if self._index is None and not may_block:
            require_cached_index(self)
        position = self._start_for(offset, may_block=may_block)
        while position < self.size_bytes:
            if not may_block:
                require_cached(self, position)
            read = read_positions(self, position)
            if not read.lasts:
                if refuse:
                    batches.refuse_blank(self, position)
                break
            self._positions = read
            if read.lasts[-1] >= offset:
                return read.positions[bisect_left(read.lasts, offset)]
            position = read.end
        return self.size_bytes

    def _start_for(self, offset: int, *, may_block: bool) -> int:
        """Where to begin to look for an offset. A client that reads on asks for the first offset of
        a batch. If that batch has an entry, the look-up begins there: the batches before it are not
        needed, and may be on the disk only."""
        above = self.index.position_above(offset)
        if above:
            if not may_block:
                require_cached(self, above)
            begins_with = int.from_bytes(os.pread(self.file.fd(), 8, above), signed=True)
            if self.base_offset <= begins_with <= offset:
                return above
        return self.index.floor(offset)

    def end_within(self, position: int, limit: int) -> int:
        """The last known batch boundary in (position, limit]; 0 when none is known."""
        boundary = max(
            self.index.boundary_at_most(limit), self._positions.boundary_at_most(position, limit)
        )
        return boundary if boundary > position else 0

    def batch_size_at(self, position: int) -> int:
        length: int = _LENGTH.unpack(os.pread(self.file.fd(), _LENGTH.size, position))[0]
        return length + LENGTH_OVERHEAD_BYTES

    # -- cutting ---------------------------------------------------------------------------

    def truncate_to(self, offset: int) -> int:
        """Cuts off the batch with `offset` and all behind it; returns the end. Raises OSError."""
        position, offset = self._end_below(offset)
        if position < self.size_bytes:
            self.file.cut(position)
            os.ftruncate(self.file.fd(), position)
            self.index.truncate_to(offset)
            self.time_index.truncate_to(offset)
            kept = [each for each in self.aborted if each.last_offset < offset]
            if len(kept) < len(self.aborted):
                self.set_aborted(kept, len(kept))
            self.size_bytes = position
            self.write_back_from = min(self.write_back_from, position)
            self._positions = NO_POSITIONS
            self._memo.clear()
            if position == 0:
                self.first_batch_timestamp_ms = None
        return self.read_tail()

    def _end_below(self, offset: int) -> tuple[int, int]:
        """Where the last batch ends that ends before `offset`, or the first damaged one begins; and
        the offset behind what lies before."""
        end, next_offset = self.index.floor(offset - 1), self.base_offset
        for position, header in self.batches_from(end):
            if header.last_offset >= offset:
                break
            end, next_offset = position + header.size_bytes, header.last_offset + 1
        return end, min(next_offset, offset)

    # -- indexes, at first use ---------------------------------------------------------------------

    @property
    def index(self) -> OffsetIndex:
        """Raises OSError."""
        if self._index is None:
            try:
                self._index = OffsetIndex.load(
                    self.path(file_names.INDEX), self.base_offset, self.size_bytes
                )
            except CorruptIndexError as error:
                self.rebuild_indexes(str(error))
            self.hold_index()
        assert self._index is not None
        return self._index

    @property
    def time_index(self) -> TimeIndex:
        """Raises OSError."""
        if self._time_index is None:
            try:
                loaded = TimeIndex.load(self.path(file_names.TIME_INDEX), self.base_offset)
                if (
                    not (len(loaded) or self._timestamps_known)
                    and self.first_batch_timestamp() >= 0
                ):
                    raise CorruptIndexError(f"{self.file.path}: its time index is empty")
                self._time_index = loaded
            except CorruptIndexError as error:
                self.rebuild_indexes(str(error))
        assert self._time_index is not None
        return self._time_index

    def hold_index(self) -> None:
        """Have the memory of the offset index counted, as it is now."""
        if self._index is not None:
            self.file.hold(self._index.memory_bytes)

    def rebuild_indexes(self, reason: str) -> None:
        """Builds both indexes, and their files, from the data. Raises OSError: then all is as it
        was, unless only the files could not be written."""
        logger.warning("%s; the indexes are made anew from the data", reason)
        self.take_over(build_indexes(self, self.batches_from(0)))

    @property
    def aborted(self) -> list[AbortedTxn]:
        """Those whose marker is in this segment. Raises CorruptIndexError, OSError."""
        if self._aborted is None:
            self._aborted = transaction_index.read(self.path(file_names.TXN_INDEX))
        return self._aborted

    def set_aborted(self, entries: list[AbortedTxn], start: int) -> None:
        """Keep these aborted transactions, known up to number `start`. Raises OSError."""
        transaction_index.write(self.path(file_names.TXN_INDEX), entries, start)
        self._aborted = entries

    def take_over(self, built: RebuiltIndexes) -> None:
        """Have these indexes, and their files. `size_bytes` stays: what is behind is there yet.
        Raises OSError, with the indexes in memory."""
        self._index, self._time_index = built.index, built.time_index
        self._positions = NO_POSITIONS
        self._memo.clear()
        self.bytes_since_index = built.bytes_since_index
        self.largest_timestamp_ms = built.largest_timestamp_ms
        self.largest_timestamp_offset = built.largest_timestamp_offset
        self.first_batch_timestamp_ms = built.first_batch_timestamp_ms
        self._timestamps_known = True
        self.hold_index()
        built.index.replace_file()
        built.time_index.replace_file()

    def read_tail(self) -> int:
        """Learn what an append must know from the batches behind the last index entry; returns the
        offset after the last batch, -1 where the data does not end with a batch. Raises OSError."""
        start = end = self.index.last_position
        self.largest_timestamp_ms, self.largest_timestamp_offset = self.time_index.last
        next_offset = self.base_offset
        for position, header in self.batches_from(start):
            next_offset = header.last_offset + 1
            end = position + header.size_bytes
            if header.max_timestamp > self.largest_timestamp_ms:
                self.largest_timestamp_ms = header.max_timestamp
                self.largest_timestamp_offset = header.last_offset
        self.bytes_since_index = end - start
        self._timestamps_known = True
        return next_offset if end == self.size_bytes else -1

    def largest_timestamp(self) -> tuple[int, int]:
        """(timestamp, offset); from the time index if not loaded. (-1, …) where no record has a
        timestamp: retention then takes the time of the file (`delete_old_segments.ages`). Raises
        OSError."""
        if not self._timestamps_known:
            loaded = self._time_index
            self.largest_timestamp_ms, self.largest_timestamp_offset = self.time_index.last
            self._time_index = loaded  # retention asks every log, and nobody else this one
            self._timestamps_known = True
        return self.largest_timestamp_ms, self.largest_timestamp_offset

    def time_floor(self, timestamp_ms: int) -> int:
        """The offset up to which the timestamps are at most `timestamp_ms`. Raises OSError."""
        try:
            return self.time_index.floor(timestamp_ms)[1]
        except (CorruptIndexError, FileNotFoundError) as error:  # its file was cut or has gone
            self.rebuild_indexes(str(error))
            return self.time_index.floor(timestamp_ms)[1]

    def first_batch_timestamp(self) -> int:
        """Max timestamp of the first batch, Kafka's rollingBasedTimestamp; -1 while the segment is
        empty."""
        if self.first_batch_timestamp_ms is None:
            first = next(walk_headers(self.file.fd(), 0, self.size_bytes, HEADER_BYTES), None)
            if first is None:
                return NO_TIMESTAMP
            self.first_batch_timestamp_ms = first[1].max_timestamp
        return self.first_batch_timestamp_ms

    def batches_from(self, position: int) -> Iterator[tuple[int, BatchHeader]]:
        """(position, header) of the batches from there on, up to damage. Raises OSError."""
        headers = walk_headers(self.file.fd(), position, self.size_bytes)
        return batches.up_to_damage(self, headers)

    # -- closing -----------------------------------------------------------------------------------

    def close_indexes(self) -> None:
        """Add the closing time entry and write the indexes out. Raises OSError. Also where the
        indexes were dropped for room meanwhile: without that entry the segment would count as older
        than it is at the next start."""
        if not self.size_bytes or not self._timestamps_known:
            return
        self.time_index.append(self.largest_timestamp_ms, self.largest_timestamp_offset)
        self.flush_indexes()

    def flush_indexes(self) -> None:
        for index in (self._index, self._time_index):
            if index is not None:
                index.flush()

    def abandon(self) -> None:
        """Forget everything that is not on disk yet, since the files are about to be renamed."""
        self.is_abandoned = True
        self._aborted = self._index = self._time_index = None
        self._positions = NO_POSITIONS
        self.file.abandon()

    def forget_lookups(self) -> None:
        """Drop what a look-up loaded, when the file is closed for room."""
        self._positions = NO_POSITIONS
        with suppress(OSError):  # the entries stay in memory; the next roll or flush reports it
            self.flush_indexes()
            self._index = self._time_index = None

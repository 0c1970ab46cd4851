"""Whether the entries of an index say what lies in the data. No CRC guards an index, so an entry is
compared with the batch that it points to: the last ones when an index is loaded, any other when a
look-up begins there. One that does not fit has the indexes made anew from the data; one that points
to a batch whose own bytes are damaged is believed where they are not enough to tell.
"""

import os
import struct
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Final

from brokerd.log import names
from brokerd.log.indexes.offset_index import CorruptIndexError, OffsetIndex
from brokerd.log.indexes.time_index import TimeIndex
from brokerd.log.indexes.txn_index import AbortedTxn
from brokerd.log.io.page_cache import require_cached
from brokerd.log.io.scan import header_at, is_intact, is_plausible
from brokerd.protocol.records import HEADER_BYTES, MAGIC, BatchHeader, read_header

if TYPE_CHECKING:
    from brokerd.log.segments.segment import Segment

_BASE_MAGIC_DELTA: Final = struct.Struct(">q8xb6xi")


def _offsets_at(fd: int, position_bytes: int) -> tuple[int, int] | None:
    """(base offset, last offset) of the batch that begins at a position; None where none does."""
    data = os.pread(fd, _BASE_MAGIC_DELTA.size, position_bytes)
    if len(data) < _BASE_MAGIC_DELTA.size:
        return None
    base_offset, magic, delta = _BASE_MAGIC_DELTA.unpack(data)
    return (base_offset, base_offset + delta) if magic == MAGIC else None


def _begins(fd: int, position_bytes: int, lowest: int, highest: int) -> bool:
    """Whether a batch with a base offset in [lowest, highest] begins at a position."""
    found = _offsets_at(fd, position_bytes)
    return found is not None and lowest <= found[0] <= highest


def start_for(segment: "Segment", offset: int, *, may_block: bool) -> int:
    """A position where a batch begins from which on the one is found that holds `offset`.

    Who reads on asks for the first offset of a batch that has an entry itself, so this entry is
    looked at before the one below, whose batch is not needed then and may be on the disk only.
    Raises NotInPageCache if not may_block and it would wait for the disk; an entry that does not
    fit the data has the index made anew. Raises OSError.
    """
    fd = segment.file.fd()
    above = segment.index.entry_above(offset)
    if above is not None:
        last_offset, position = above
        if not may_block:
            require_cached(segment, position)
        found = _offsets_at(fd, position)
        if found is not None and found[0] <= offset and found[1] == last_offset:
            return position
    position = segment.index.floor(offset)
    if position:
        if not may_block:
            require_cached(segment, position)
        if not _begins(fd, position, segment.base_offset, offset):
            reason = f"{segment.file.path}: the index does not fit it at byte {position}"
            segment.rebuild_indexes(reason, may_block=may_block)
            return segment.index.floor(offset)
    return position


def load_offsets(segment: "Segment") -> OffsetIndex:
    """The offset index, if its last entry fits. Raises CorruptIndexError, OSError."""
    path = segment.path(names.INDEX)
    index = OffsetIndex.load(path, segment.base_offset, segment.size_bytes)
    for offset, position in index.entries(len(index) - 1, 1):
        if not _begins(segment.file.fd(), position, segment.base_offset, offset):
            raise CorruptIndexError(f"{segment.file.path}: the index does not fit it")
    return index


def load_times(segment: "Segment", *, may_block: bool) -> TimeIndex:
    """The time index, if its last entry fits. Raises CorruptIndexError, OSError; NotInPageCache
    if not may_block."""
    index = TimeIndex.load(segment.path(names.TIME_INDEX), segment.base_offset)
    if segment.size_bytes:
        _check_last_time(segment, index, may_block=may_block)
    return index


def _check_last_time(segment: "Segment", index: TimeIndex, *, may_block: bool) -> None:
    if not len(index):
        header = read_header(os.pread(segment.file.fd(), HEADER_BYTES, 0))
        # In a segment being written the first entry may not be due yet.
        if header.max_timestamp >= 0 > segment.largest_timestamp_ms:
            raise CorruptIndexError(f"{segment.file.path}: its time index is empty")
        return
    timestamp_ms, offset = index.last
    if _is_another(segment, offset, timestamp_ms, may_block=may_block):
        raise CorruptIndexError(f"{segment.file.path}: the time index does not fit it")


def time_floor(segment: "Segment", timestamp_ms: int, *, may_block: bool) -> int:
    """The offset up to which the timestamps are at most `timestamp_ms`. Raises OSError;
    NotInPageCache if not may_block."""
    try:
        known_ms, offset = segment.times(may_block=may_block).floor(timestamp_ms)
    except (CorruptIndexError, FileNotFoundError) as error:
        segment.rebuild_indexes(str(error), may_block=may_block)
    else:
        if known_ms < 0 or not _is_another(segment, offset, known_ms, may_block=may_block):
            return offset
        reason = f"{segment.file.path}: the time index does not fit it at offset {offset}"
        segment.rebuild_indexes(reason, may_block=may_block)
    return segment.time_index.floor(timestamp_ms)[1]


def confirm_timestamp(segment: "Segment", *, may_block: bool = True) -> bool:
    """Compare the largest timestamp with the data; whether it was another one. Raises OSError;
    NotInPageCache if not may_block."""
    before = segment.largest_timestamp(may_block=may_block)
    if before[0] < 0 or not _is_another(segment, before[1], before[0], may_block=may_block):
        return False
    reason = f"{segment.file.path}: its largest timestamp is not {before[0]}"
    segment.rebuild_indexes(reason, may_block=may_block)
    return segment.largest_timestamp() != before


def checked_aborted(segment: "Segment", entries: list[AbortedTxn]) -> list[AbortedTxn]:
    """The entries, each of which must end with a marker. Raises CorruptIndexError, OSError."""
    is_damaged = cache(lambda: not _ends_whole(segment))
    for entry in entries:
        if not _is_ended(segment, entry, is_damaged):
            path = segment.path(names.TXN_INDEX)
            raise CorruptIndexError(f"{path}: no transaction ends at {entry.last_offset}")
    return entries


def _is_ended(segment: "Segment", entry: AbortedTxn, is_damaged: Callable[[], bool]) -> bool:
    """Whether a transaction's marker is there, or may have been where data are damaged."""
    found = _batch_at(segment, entry.last_offset, may_block=True)
    if found is None:
        return entry.last_offset <= segment.highest_offset and is_damaged()
    position, header = found
    if header.base_offset > entry.last_offset:
        return True
    is_marker = header.is_control and header.producer_id == entry.producer_id
    return is_marker or not is_intact(segment.file.fd(), position, header)


def _ends_whole(segment: "Segment") -> bool:
    """Whether one batch follows the other up to the end of the data."""
    end = 0
    for position, header in segment.batches_from(0):
        end = position + header.size_bytes
    return end == segment.size_bytes


def _is_another(segment: "Segment", offset: int, timestamp_ms: int, *, may_block: bool) -> bool:
    """Whether the largest timestamp of the batch that holds an offset is another one, or there is
    no such batch; of one whose bytes are damaged that cannot be said."""
    found = _batch_at(segment, offset, may_block=may_block)
    if found is None:
        return True
    position, header = found
    if header.base_offset > offset:
        return True
    return header.max_timestamp != timestamp_ms and is_intact(segment.file.fd(), position, header)


def _batch_at(
    segment: "Segment", offset: int, *, may_block: bool
) -> tuple[int, BatchHeader] | None:
    """The first batch that ends at or after an offset, and where it begins."""
    position = segment.locate(offset, may_block=may_block)
    header = header_at(segment.file.fd(), position)
    if header is None or not is_plausible(header, segment.size_bytes - position):
        return None
    return position, header

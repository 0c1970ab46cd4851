"""The segments of one log in order of base offset: at least one, the last of them active."""

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from brokerd.log import file_names
from brokerd.log.indexes.transaction_index import AbortedTxn
from brokerd.log.io.files import rename_if_there
from brokerd.log.io.open_files import FileRange
from brokerd.log.io.page_cache import READ_AHEAD_BYTES, NotInPageCache, PendingRangeRead, is_cached
from brokerd.log.segments.log_segment import LogSegment
from brokerd.protocol.records import BatchHeader

if TYPE_CHECKING:
    from brokerd.log.fetch_offset_by_timestamp import Found, TimestampSearch


class LogSegments:
    __slots__ = ("_aborted_skips", "_bases", "_segments", "active", "walked")

    def __init__(self, segments: list[LogSegment]) -> None:
        self.reset(segments)

    def reset(self, segments: list[LogSegment]) -> None:
        self._segments = segments
        self._bases = [segment.base_offset for segment in segments]
        # from a segment's number to that of the next one that may have aborted transactions
        self._aborted_skips: dict[int, int] = {}
        self.active = segments[-1]
        self.walked: dict[TimestampSearch, Found | None] = {}  # see `fetch_offset_by_timestamp`

    def __iter__(self) -> Iterator[LogSegment]:
        return iter(self._segments)

    def __len__(self) -> int:
        return len(self._segments)

    def __getitem__(self, number: int) -> LogSegment:
        return self._segments[number]

    def get(self, base_offset: int) -> LogSegment | None:
        number = self._number_of(base_offset)
        return self._segments[number] if self._bases[number] == base_offset else None

    def end_of(self, number: int, log_end_offset: int) -> int:
        following = number + 1
        return self._bases[following] if following < len(self._bases) else log_end_offset

    def end_after(self, base_offset: int, log_end_offset: int) -> int:
        return self.end_of(self._number_of(base_offset), log_end_offset)

    def closed_run(self, bases: Sequence[int]) -> list[LogSegment] | None:
        """The neighbouring closed segments that begin at these offsets; None if they do not."""
        number = self._number_of(bases[0])
        end = number + len(bases)
        if end >= len(self._segments) or self._bases[number:end] != list(bases):
            return None
        return self._segments[number:end]

    def replace(self, old: Sequence[LogSegment], segment: LogSegment) -> None:
        """Put one segment in the place of neighbours that begin where it does."""
        number = self._number_of(segment.base_offset)
        end = number + len(old)
        self._segments[number:end] = [segment]
        self._bases[number:end] = [segment.base_offset]
        self.forget_aborted_skips()

    def _number_of(self, offset: int) -> int:
        """Number of the segment that holds `offset`; the first one for offsets before it."""
        return max(bisect_right(self._bases, offset) - 1, 0)

    def between(self, start_offset: int, end_offset: int) -> list[LogSegment]:
        """The segments that hold offsets in [start, end)."""
        found = self.from_offset(start_offset)
        return [segment for segment in found if segment.base_offset < end_offset]

    def from_offset(self, offset: int) -> list[LogSegment]:
        """The segments from the one on that holds an offset; all for one before them."""
        return self._segments[self._number_of(offset) :]

    def headers_from(self, offset: int) -> Iterator[tuple[LogSegment, int, BatchHeader]]:
        """(segment, position, header) of the batches from the one that holds `offset` on."""
        for segment in self.from_offset(offset):
            start = segment.locate(offset)
            for position, header in segment.batches_from(start):
                yield segment, position, header

    def range_from(
        self,
        offset: int,
        max_bytes: int,
        up_to: int,
        log_end_offset: int,
        *,
        min_one_batch: bool,
        may_block: bool,
    ) -> FileRange | None:
        """The batches of one segment from the one that holds `offset` on, all below `up_to`. Where
        `max_bytes` ends it, it ends at a batch boundary if one is known, else within a batch.
        Raises NotInPageCache if not may_block and it would wait for the disk."""
        segment = self.active
        number = len(self._segments) - 1
        if offset < segment.base_offset:
            number = self._number_of(offset)
            segment = self._segments[number]
        position = segment.locate(offset, may_block=may_block, refuse=True)
        while position >= segment.size_bytes:  # a gap at the end of a compacted segment
            if segment is self.active:
                return None
            number += 1
            segment = self._segments[number]
            position = segment.locate(offset, may_block=may_block, refuse=True)
        end = segment.size_bytes
        if up_to < self.end_of(number, log_end_offset):
            end = segment.locate(up_to, may_block=may_block)
        if end - position > max_bytes:
            end = min(end, _cut(segment, position, max_bytes, min_one_batch))
        if end <= position:
            return None
        if may_block:
            return segment.file.pin(position, end - position)
        return _pin_cached(segment, position, end, min_one_batch)

    def bytes_below(
        self, offset: int, up_to: int, log_end_offset: int, found: FileRange | None
    ) -> int | None:
        """How many bytes lie from the batch that holds `offset` up to a later offset; None where
        that is in a later segment. `found` is what was read from there. Raises OSError."""
        if found is not None and up_to >= log_end_offset and found.is_of(self.active.file):
            return self.active.size_bytes - found.position_bytes
        number = self._number_of(offset)
        position = self._segments[number].locate(offset)
        while position >= self._segments[number].size_bytes:
            if number == len(self._segments) - 1:
                return 0
            number += 1
            position = self._segments[number].locate(offset)
        segment = self._segments[number]
        if segment is not self.active and up_to >= self._bases[number + 1]:
            return None
        end = segment.size_bytes if up_to >= log_end_offset else segment.locate(up_to)
        return max(end - position, 0)

    def aborted_in(self, offset: int, found: FileRange, log_end_offset: int) -> list[AbortedTxn]:
        """The aborted transactions that touch a range found for `offset`. Those of a little more
        may be among them. Raises OSError."""
        upper = log_end_offset
        for number in range(self._number_of(offset), len(self._segments)):
            segment = self._segments[number]
            if found.is_of(segment.file):
                last = segment.index.offset_behind(found.position_bytes + found.size_bytes)
                upper = self.end_of(number, log_end_offset) if last is None else last + 1
                break
        return [each for each in self._aborted(offset, upper) if each.last_offset >= offset]

    def aborted_across(self, offset: int) -> list[AbortedTxn]:
        """Aborted transactions that began before `offset`, with markers behind it. Raises
        OSError."""
        return list(self._aborted(offset, offset))

    def _aborted(self, offset: int, began_below: int) -> Iterator[AbortedTxn]:
        """The aborted transactions that began below `began_below`, with a marker in the segment of
        `offset` or in any later one."""
        number = self._number_of(offset)
        while number < len(self._segments):
            number = self._next_aborting(number)
            for each in self._segments[number].aborted:
                if each.first_offset < began_below:
                    yield each
                if each.last_stable_offset >= began_below:
                    return
            number += 1

    def _next_aborting(self, number: int) -> int:
        """Number of the first segment from that one on with aborted transactions; where none has
        any, that of the active one, to which some may be added."""
        passed = []
        while number < len(self._segments) - 1:
            following = self._aborted_skips.get(number)
            if following is None:
                if self._segments[number].aborted:
                    break
                following = number + 1
            passed.append(number)
            number = following
        for each in passed:
            self._aborted_skips[each] = number
        return number

    def forget_aborted_skips(self) -> None:
        self._aborted_skips.clear()

    def add(self, segment: LogSegment) -> None:
        self._segments.append(segment)
        self._bases.append(segment.base_offset)
        self.active = segment

    def drop_first(self, count: int) -> list[LogSegment]:
        """Take out the oldest segments, but never all of them."""
        dropped = self._segments[:count]
        del self._segments[:count], self._bases[:count]
        self.forget_aborted_skips()
        return dropped

    def drop_after(self, offset: int) -> list[LogSegment]:
        """Take out the segments that begin after `offset`; the first one stays in any case."""
        kept = max(bisect_right(self._bases, offset), 1)
        dropped = self._segments[kept:]
        del self._segments[kept:], self._bases[kept:]
        self.forget_aborted_skips()
        self.active = self._segments[-1]
        return dropped


def _pin_cached(segment: LogSegment, position: int, end: int, min_one_batch: bool) -> FileRange:
    """A range that is in memory; a shorter one, if that is. Raises NotInPageCache."""
    if is_cached(segment.file.fd(), position, end - position):
        return segment.file.pin(position, end - position)
    if end - position > READ_AHEAD_BYTES:
        end = min(end, _cut(segment, position, READ_AHEAD_BYTES, min_one_batch))
        if is_cached(segment.file.fd(), position, end - position):
            return segment.file.pin(position, end - position)
    raise NotInPageCache(PendingRangeRead(segment.file.pin(position, end - position)))


def _cut(segment: LogSegment, position: int, max_bytes: int, min_one_batch: bool) -> int:
    """Where a read from `position` ends that may not reach the end of the segment."""
    boundary = segment.end_within(position, position + max_bytes)
    if boundary:
        return boundary
    size = segment.batch_size_at(position)
    if size <= max_bytes:
        return position + max_bytes
    return position + size if min_one_batch else position


def mark_deleted(
    segment: LogSegment, suffixes: Sequence[str] = file_names.SEGMENT_SUFFIXES
) -> list[str]:
    """Rename the segment's files to `.deleted`; returns the new paths. Raises OSError."""
    segment.abandon()
    paths = [segment.path(suffix) for suffix in suffixes]
    return [
        path + file_names.DELETED
        for path in paths
        if rename_if_there(path, path + file_names.DELETED)
    ]


def remove_segments(segments: list[LogSegment]) -> int:
    """Remove segments for good; returns how many bytes of data they held. Raises OSError."""
    size_bytes = sum(segment.size_bytes for segment in segments)
    for segment in segments:
        segment.file.cut(0)
        for path in mark_deleted(segment):
            os.unlink(path)
    return size_bytes

"""Describes the files of a log for the admin port: segments, index entries, batch headers."""

import os
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import file_names
from brokerd.log.indexes import offset_index, time_index
from brokerd.log.indexes.offset_index import CorruptIndexError
from brokerd.log.indexes.time_index import TimeIndex
from brokerd.log.io.open_files import FileRange
from brokerd.log.io.scan_batches import walk_headers
from brokerd.log.log_context import raises_storage_error, storage_error
from brokerd.log.segments.log_segment import LogSegment
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.records import (
    HEADER_BYTES,
    NO_TIMESTAMP,
    BatchHeader,
    crc_matches,
    read_header,
)

Kind = Literal["offset", "time"]
NEAR = 2
"""Index entries before an entry, and from it on, in `IndexSteps`."""


class SegmentInfo(NamedTuple):
    """As the admin port answers it, but `files` are (name, size in bytes). Timestamps are -1 where
    no record has one."""

    base_offset: int
    next_offset: int
    size_bytes: int
    first_timestamp_ms: int
    largest_timestamp_ms: int
    index_entries: int
    time_index_entries: int
    active: bool
    files: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class BatchInfo:
    position_bytes: int
    header: BatchHeader
    crc_ok: bool


class IndexSteps(NamedTuple):
    """What the indexes of a segment say where an offset is. Entries are (offset, position).

    `time_entry` (timestamp, offset): None where no time was given, or no entry is at or before it.
    `entry` is the last one at or before the offset, None where there is none; `near_entries` are
    the ones around it, of `entry_count`.
    """

    time_entry: tuple[int, int] | None
    entry_count: int
    entry: tuple[int, int] | None
    near_entries: list[tuple[int, int]]

    @property
    def scan_from_bytes(self) -> int:
        return self.entry[1] if self.entry else 0


class SegmentSummary(NamedTuple):
    """What is known of a segment without reading; None where `describe` must read the files."""

    base_offset: int
    next_offset: int
    size_bytes: int
    active: bool
    first_batch_timestamp_ms: int | None
    largest_timestamp_ms: int | None
    index_entries: int | None
    time_index_entries: int | None


@raises_storage_error
def segment_summaries(log: UnifiedLog) -> list[SegmentSummary]:
    """All segments, oldest first, as input of `describe`. Reads only what the active segment has
    not read yet. Raises KafkaError(KAFKA_STORAGE_ERROR)."""
    segments = log.local.segments
    found = []
    for number, segment in enumerate(segments):
        largest_ms = index_entries = time_index_entries = None
        if segment is segments.active:  # its files lag behind
            largest_ms = segment.largest_timestamp()[0]
            index_entries = len(segment.index)
            time_index_entries = len(segment.time_index)
        found.append(
            SegmentSummary(
                segment.base_offset, segments.end_of(number, log.log_end_offset),
                segment.size_bytes, segment is segments.active, segment.first_batch_timestamp_ms,
                largest_ms, index_entries, time_index_entries,
            )
        )  # fmt: skip
    return found


def describe(directory: str, seen: Sequence[SegmentSummary]) -> list[SegmentInfo]:
    """The segments with what is in their files; may be called in any thread. A file that was
    removed meanwhile counts as empty. Raises KafkaError(KAFKA_STORAGE_ERROR)."""
    try:
        files: dict[int, list[tuple[str, int]]] = {}
        for entry in os.scandir(directory):
            parsed = file_names.parse_segment_file(entry.name)
            if parsed is not None:
                with suppress(FileNotFoundError):
                    files.setdefault(parsed[0], []).append((entry.name, entry.stat().st_size))
        return [_described(directory, each, files.get(each.base_offset, [])) for each in seen]
    except OSError as error:
        raise storage_error(error) from error


def _described(directory: str, seen: SegmentSummary, files: list[tuple[str, int]]) -> SegmentInfo:
    base_offset = seen.base_offset
    sizes = {name[20:]: size_bytes for name, size_bytes in files}
    first_ms, largest_ms = seen.first_batch_timestamp_ms, seen.largest_timestamp_ms
    if first_ms is None:
        first_ms = _first_timestamp(file_names.segment_file(directory, base_offset, file_names.LOG))
    if largest_ms is None:
        try:
            path = file_names.segment_file(directory, base_offset, file_names.TIME_INDEX)
            largest_ms = TimeIndex.load(path, base_offset).last[0]
        except CorruptIndexError:
            largest_ms = NO_TIMESTAMP
    index_entries, time_index_entries = seen.index_entries, seen.time_index_entries
    if index_entries is None:
        index_entries = sizes.get(file_names.INDEX, 0) // offset_index.ENTRY_BYTES
    if time_index_entries is None:
        time_index_entries = sizes.get(file_names.TIME_INDEX, 0) // time_index.ENTRY_BYTES
    return SegmentInfo(
        base_offset, seen.next_offset, seen.size_bytes, first_ms, largest_ms, index_entries,
        time_index_entries, seen.active, tuple(sorted(files)),
    )  # fmt: skip


def _first_timestamp(path: str) -> int:
    try:
        with open(path, "rb", buffering=0) as file:
            header = file.read(HEADER_BYTES)
    except FileNotFoundError:
        header = b""
    return read_header(header).max_timestamp if len(header) == HEADER_BYTES else NO_TIMESTAMP


@raises_storage_error
def index_entries(
    log: UnifiedLog, base_offset: int, kind: Kind, start: int, limit: int
) -> tuple[int, list[tuple[int, int]]]:
    """How many entries one segment's index has, and (offset, position) or (timestamp, offset) of at
    most `limit` from `start` on. Raises as `segment_summaries`."""
    segment = _segment(log, base_offset)
    index = segment.index if kind == "offset" else segment.time_index
    try:
        return len(index), index.entries(max(start, 0), max(limit, 0))
    except CorruptIndexError as error:
        segment.rebuild_indexes(str(error))
        return len(segment.time_index), segment.time_index.entries(max(start, 0), max(limit, 0))


@raises_storage_error
def index_steps(log: UnifiedLog, base_offset: int, offset: int, at_ms: int | None) -> IndexSteps:
    """How the indexes of a segment lead to an offset, or to the first record at or after a time,
    which has this offset. Raises as `index_entries`."""
    segment = _segment(log, base_offset)
    try:
        return _index_steps(segment, offset, at_ms)
    except CorruptIndexError as error:
        segment.rebuild_indexes(str(error))
        return _index_steps(segment, offset, at_ms)


def _index_steps(segment: LogSegment, offset: int, at_ms: int | None) -> IndexSteps:
    index, time_entry = segment.index, None
    if at_ms is not None:
        floor = segment.time_index.floor(at_ms)
        time_entry = None if floor[0] == NO_TIMESTAMP else floor
        offset = floor[1]
    number = bisect_right(range(len(index)), offset, key=lambda n: index.entries(n, 1)[0][0]) - 1
    entry = index.entries(number, 1)[0] if number >= 0 else None
    first = max(0, number - NEAR)
    near = index.entries(first, max(0, number) + NEAR - first)
    return IndexSteps(time_entry, len(index), entry, near)


@raises_storage_error
def data_from(log: UnifiedLog, base_offset: int, position: int) -> FileRange:
    """The data of a segment from a position on, for `batches` and `estimate_compression_ratio`. Its
    file is pinned: release it. Raises KafkaError(INVALID_REQUEST) if the segment ends before."""
    segment = _segment(log, base_offset)
    if position > segment.size_bytes:
        raise _no_batch_at(position)
    return segment.file.pin(position, segment.size_bytes - position)


def _segment(log: UnifiedLog, base_offset: int) -> LogSegment:
    segment = log.local.segments.get(base_offset)
    if segment is None:
        raise KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE, f"no segment begins at offset {base_offset}"
        )
    return segment


@raises_storage_error
def segment_times(log: UnifiedLog, now_ms: int) -> list[tuple[int, int]]:
    """(first offset, ms since the epoch when it was last written) of each segment, oldest first,
    and the log end with `now_ms` if the last segment holds anything. Raises KafkaError."""
    log.check_end()
    segments = log.local.segments
    times = [
        (max(each.base_offset, log.log_start_offset), int(os.stat(each.file.path).st_mtime * 1000))
        for each in segments
    ]
    if segments.active.size_bytes:
        times.append((log.log_end_offset, now_ms))
    return times


def batches(data: FileRange, limit: int, up_to: int | None = None) -> list[BatchInfo]:
    """At most `limit` batches in a range of a data file, with their CRC checked; may be called in
    any thread. The last one is the first that ends at or after the offset `up_to`.

    Raises KafkaError(INVALID_REQUEST) if no batch starts at the beginning; OSError.
    """
    if data.size_bytes == 0:
        return []
    fd, start = data.fd, data.position_bytes
    found: list[BatchInfo] = []
    for position, header in islice(walk_headers(fd, start, start + data.size_bytes), limit):
        found.append(BatchInfo(position, header, _crc_ok(fd, position, header)))
        if up_to is not None and header.last_offset >= up_to:
            break
    if not found and limit > 0:
        raise _no_batch_at(start)
    return found


def _no_batch_at(position: int) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_REQUEST, f"no batch starts at byte {position} of the segment"
    )


def _crc_ok(fd: int, position: int, header: BatchHeader) -> bool:
    return crc_matches(header, memoryview(os.pread(fd, header.size_bytes, position)))

"""What a person may want to know of a log's files: segments, index entries, batch headers."""

import os
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import names
from brokerd.log.scan import walk_headers
from brokerd.log.segment import Segment
from brokerd.log.segment_list import SegmentList
from brokerd.protocol.records import BatchHeader, crc_matches

Kind = Literal["offset", "time"]


@dataclass(frozen=True, slots=True)
class SegmentInfo:
    """One segment; `files` are (name, size in bytes) of all that belongs to it.

    Timestamps are -1 where no record has one.
    """

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
    """One batch as it lies on disk, and whether its bytes are intact."""

    position_bytes: int
    header: BatchHeader
    crc_ok: bool


def segment_infos(segments: SegmentList, log_end_offset: int) -> list[SegmentInfo]:
    """All segments, oldest first. Loads their indexes."""
    files: dict[int, list[tuple[str, int]]] = {}
    for entry in os.scandir(segments.active.directory):
        parsed = names.parse_segment_file(entry.name)
        if parsed is not None:
            files.setdefault(parsed[0], []).append((entry.name, entry.stat().st_size))
    return [
        SegmentInfo(
            base_offset=segment.base_offset,
            next_offset=segments.end_of(number, log_end_offset),
            size_bytes=segment.size_bytes,
            first_timestamp_ms=segment.first_timestamp(),
            largest_timestamp_ms=segment.largest_timestamp()[0],
            index_entries=len(segment.index),
            time_index_entries=len(segment.time_index),
            active=segment is segments.active,
            files=tuple(sorted(files.get(segment.base_offset, ()))),
        )
        for number, segment in enumerate(segments)
    ]


def index_entries(segment: Segment, kind: Kind, start: int, limit: int) -> list[tuple[int, int]]:
    """(offset, position) or (timestamp, offset) of at most `limit` entries from `start` on."""
    index = segment.index if kind == "offset" else segment.time_index
    return index.entries(max(start, 0), max(limit, 0))


def batches(segment: Segment, from_position: int, limit: int) -> list[BatchInfo]:
    """At most `limit` batches from a position on, with their CRC checked.

    Raises KafkaError(INVALID_REQUEST) where no batch starts at `from_position`.
    """
    if from_position == segment.size_bytes:
        return []
    fd = segment.file.fd()
    found = [
        BatchInfo(position, header, _crc_ok(fd, position, header))
        for position, header in islice(
            walk_headers(fd, max(from_position, 0), segment.size_bytes), limit
        )
    ]
    if not found and limit > 0:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"no batch starts at byte {from_position} of the segment"
        )
    return found


def _crc_ok(fd: int, position: int, header: BatchHeader) -> bool:
    return crc_matches(header, memoryview(os.pread(fd, header.size_bytes, position)))

"""Which neighbouring segments are joined into one when a log is cleaned (Kafka's
Cleaner.groupSegmentsBySize).
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from brokerd.integer_ranges import INT32_MAX

GROUP_SEGMENTS_MAX: Final = 32  # so that one swap is a bounded number of renames


class SegmentFiles(NamedTuple):
    base_offset: int
    next_offset: int
    size_bytes: int
    index_bytes: int
    time_index_bytes: int


def group_segments_by_size(
    segments: Iterable[SegmentFiles], *, segment_bytes: int, index_bytes: int
) -> list[list[SegmentFiles]]:
    """Groups of neighbouring segments that fit into one segment, whatever is kept of them."""
    made: list[list[SegmentFiles]] = []
    size = index = time_index = 0
    for segment in segments:
        size += segment.size_bytes
        index += segment.index_bytes
        time_index += segment.time_index_bytes
        fits = (
            made
            and len(made[-1]) < GROUP_SEGMENTS_MAX
            and size <= segment_bytes
            and index <= index_bytes
            and time_index <= index_bytes
            and segment.next_offset - 1 - made[-1][0].base_offset <= INT32_MAX
        )
        if fits:
            made[-1].append(segment)
        else:
            made.append([segment])
            size, index = segment.size_bytes, segment.index_bytes
            time_index = segment.time_index_bytes
    return made

"""What is to be cleaned: the dirty part of a log, how dirty it is, and which segments are joined.

Not cleaned are the active segment, what is not below the last stable offset or not durable, and
from the first segment on that holds records younger than min.compaction.lag.ms. Only whole closed
segments are dirty.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from brokerd.config.log_config import LogConfig
from brokerd.integer_ranges import INT32_MAX, INT64_MAX

GROUP_SEGMENTS_MAX: Final = 32  # so that one swap is a bounded number of renames


class ClosedSegment(NamedTuple):
    """A closed segment. Timestamps are -1 where it has none or nobody needs them."""

    base_offset: int
    next_offset: int
    size_bytes: int
    first_batch_timestamp_ms: int = -1
    largest_timestamp_ms: int = -1


class LogToClean(NamedTuple):
    """The dirty part [start, end), the sizes of clean and dirty part, and by how many milliseconds
    its oldest records are later than max.compaction.lag.ms (0: they are not)."""

    start_offset: int
    end_offset: int
    clean_bytes: int
    dirty_bytes: int
    late_ms: int

    @property
    def ratio(self) -> float:
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0


def needs_timestamps(config: LogConfig) -> bool:
    """Whether `find` looks at timestamps, which may have to be read from disk."""
    return config.min_compaction_lag_ms > 0 or config.max_compaction_lag_ms < INT64_MAX


def find(
    closed: Sequence[ClosedSegment],
    config: LogConfig,
    *,
    checkpoint: int,
    stable_offset: int,
    now_ms: int,
) -> LogToClean:
    """What is dirty of a log with these closed segments, all of them, oldest first. `checkpoint` is
    where the last cleaning ended; what it says of offsets that are not in the log is void, and the
    log dirty from its start on. Nothing at or above `stable_offset` is cleaned."""
    if not closed:
        return LogToClean(checkpoint, checkpoint, 0, 0, 0)
    start = checkpoint
    if not closed[0].base_offset <= start <= closed[-1].next_offset:
        start = closed[0].base_offset
    clean_bytes = dirty_bytes = 0
    end = start
    oldest_ms = INT64_MAX
    for segment in closed:
        if segment.next_offset <= start:
            clean_bytes += segment.size_bytes
            continue
        if segment.next_offset > stable_offset or _is_young(segment, config, now_ms):
            break
        dirty_bytes += segment.size_bytes
        end = segment.next_offset
        if segment.first_batch_timestamp_ms > 0:
            oldest_ms = min(oldest_ms, segment.first_batch_timestamp_ms)
    lag_ms = max(config.max_compaction_lag_ms, config.min_compaction_lag_ms)
    late_ms = max(now_ms - oldest_ms - lag_ms, 0) if dirty_bytes and oldest_ms < INT64_MAX else 0
    return LogToClean(start, end, clean_bytes, dirty_bytes, late_ms)


def _is_young(segment: ClosedSegment, config: LogConfig, now_ms: int) -> bool:
    lag_ms = config.min_compaction_lag_ms
    return lag_ms > 0 and segment.largest_timestamp_ms > now_ms - lag_ms


def is_cleanable(dirty: LogToClean, config: LogConfig) -> bool:
    """Whether it is dirty enough, or has been dirty for too long."""
    if dirty.end_offset <= dirty.start_offset or dirty.dirty_bytes == 0:
        return False
    return dirty.late_ms > 0 or dirty.ratio > config.min_cleanable_dirty_ratio


class SegmentFiles(NamedTuple):
    base_offset: int
    next_offset: int
    size_bytes: int
    index_bytes: int
    time_index_bytes: int


def group_segments(
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

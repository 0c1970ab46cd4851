"""What can be cleaned of one log (Kafka's LogCleanerManager.cleanableOffsets): its closed segments,
and how much of it is dirty.

Not cleaned are the active segment, what is not below the last stable offset or not durable, and
from the first segment on that holds records younger than min.compaction.lag.ms. Only whole closed
segments are dirty.
"""

from collections.abc import Sequence
from typing import NamedTuple

from brokerd.config.log_config import LogConfig
from brokerd.errors import KafkaError
from brokerd.integer_ranges import INT64_MAX
from brokerd.log.indexes.transaction_index import AbortedTxn
from brokerd.log.segments.log_segment import LogSegment
from brokerd.log.unified_log import UnifiedLog


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


def closed_segments(log: UnifiedLog) -> list[LogSegment]:
    return list(log.local.segments)[:-1]


def end_of(log: UnifiedLog, segment: LogSegment) -> int:
    return log.local.segments.end_after(segment.base_offset, log.log_end_offset)


def aborted_across(log: UnifiedLog, offset: int) -> list[AbortedTxn]:
    """Aborted transactions that begin before an offset and end after it."""
    log.local.mend_aborted(log.log_start_offset)  # the cleaner reads the files of all segments
    return log.local.segments.aborted_across(offset)


def dirty_part(log: UnifiedLog, checkpoint: int, stable_offset: int, now_ms: int) -> LogToClean:
    """The dirty part below `stable_offset`. Raises OSError, KafkaError."""
    with_times = needs_timestamps(log.config)
    closed = [
        ClosedSegment(
            each.base_offset, end_of(log, each), each.size_bytes,
            each.first_batch_timestamp() if with_times else -1,
            each.largest_timestamp()[0] if with_times else -1,
        )
        for each in closed_segments(log)
    ]  # fmt: skip
    return find(
        closed, log.config, checkpoint=checkpoint, stable_offset=stable_offset, now_ms=now_ms
    )


def dirty_bytes(log: UnifiedLog, checkpoint: int, now_ms: int) -> int:
    """How much of a log is dirty; all of a log that cannot be read."""
    try:
        return dirty_part(log, checkpoint, log.high_watermark, now_ms).dirty_bytes
    except (OSError, KafkaError):
        return log.size_bytes

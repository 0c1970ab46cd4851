"""What can be cleaned of one log: its closed segments, and how much of it is dirty."""

from brokerd.errors import KafkaError
from brokerd.log.cleaner import log_to_clean
from brokerd.log.cleaner.log_to_clean import LogToClean
from brokerd.log.indexes.transaction_index import AbortedTxn
from brokerd.log.segments.segment import Segment
from brokerd.log.unified_log import UnifiedLog


def closed_segments(log: UnifiedLog) -> list[Segment]:
    return list(log.local.segments)[:-1]


def end_of(log: UnifiedLog, segment: Segment) -> int:
    return log.local.segments.end_after(segment.base_offset, log.log_end_offset)


def aborted_across(log: UnifiedLog, offset: int) -> list[AbortedTxn]:
    """Aborted transactions that begin before an offset and end after it."""
    log.local.mend_aborted(log.log_start_offset)  # the cleaner reads the files of all segments
    return log.local.segments.aborted_across(offset)


def dirty_part(log: UnifiedLog, checkpoint: int, stable_offset: int, now_ms: int) -> LogToClean:
    """The dirty part below `stable_offset`. Raises OSError, KafkaError."""
    with_times = log_to_clean.needs_timestamps(log.config)
    closed = [
        log_to_clean.ClosedSegment(
            each.base_offset, end_of(log, each), each.size_bytes,
            each.first_batch_timestamp() if with_times else -1,
            each.largest_timestamp()[0] if with_times else -1,
        )
        for each in closed_segments(log)
    ]  # fmt: skip
    return log_to_clean.find(
        closed, log.config, checkpoint=checkpoint, stable_offset=stable_offset, now_ms=now_ms
    )


def dirty_bytes(log: UnifiedLog, checkpoint: int, now_ms: int) -> int:
    """How much of a log is dirty; all of a log that cannot be read."""
    try:
        return dirty_part(log, checkpoint, log.high_watermark, now_ms).dirty_bytes
    except (OSError, KafkaError):
        return log.size_bytes

"""Deletes a log's oldest segments (Kafka's UnifiedLog.deleteOldSegments), for any of three reasons.

- time: the largest timestamp is older than retention.ms (a segment without timestamps counts by
  when its file last changed);
- size: the log stays at or above retention.bytes without it;
- start: all its records are before the log start offset. As in Kafka the active segment is not
  deleted for this reason.
Nothing above the high watermark is deleted, and no empty active segment. A topic that is only
compacted has only the third reason.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from brokerd.config.log_config import LogConfig
from brokerd.log.log_context import raises_storage_error
from brokerd.log.segments.log_segment import LogSegment
from brokerd.log.segments.log_segments import LogSegments
from brokerd.log.unified_log import UnifiedLog

Reason = Literal["time", "size", "start"]


class SegmentAge(NamedTuple):
    """What retention needs to know of a segment. The largest timestamp stands for all records."""

    next_offset: int
    size_bytes: int
    largest_timestamp_ms: int
    is_active: bool = False


@raises_storage_error
def delete_old_segments(log: UnifiedLog, now_ms: int, high_watermark: int) -> list[int]:
    """Deletes what retention allows; returns the base offsets. Raises KafkaError."""
    segments = log.local.segments
    reasons = expired(
        ages(segments, log.log_end_offset), log.config,
        now_ms=now_ms, log_size_bytes=log.size_bytes, log_start_offset=log.log_start_offset,
        high_watermark=high_watermark,
    )  # fmt: skip
    if not reasons:
        return []
    if len(reasons) == len(segments) and not log.is_prepared:
        log.prepare_first_use()  # what is closed must end where it is said to end
        known_end = min(high_watermark, log.log_end_offset)  # it may have cut what is counted
        return delete_old_segments(log, now_ms, known_end)
    dropped = _drop_oldest(log, len(reasons), now_ms)
    deleted = [segment.base_offset for segment in dropped]
    size_bytes = sum(segment.size_bytes for segment in dropped)
    log.event("retention", segments=deleted, reasons=reasons, size_bytes=size_bytes)
    return deleted


def _drop_oldest(log: UnifiedLog, count: int, now_ms: int) -> list[LogSegment]:
    segments = log.local.segments
    if count == len(segments):
        log.roll(now_ms)
    dropped = segments.drop_first(count)
    log.delete_records_before(segments[0].base_offset)
    log.local.delete(dropped, now_ms)
    return dropped


def ages(segments: LogSegments, log_end_offset: int) -> Iterator[SegmentAge]:
    """The segments, oldest first, each looked at only when asked for. Raises OSError."""
    for number, segment in enumerate(segments):
        timestamp_ms = segment.largest_timestamp()[0]
        if timestamp_ms < 0:
            timestamp_ms = int(os.stat(segment.file.path).st_mtime * 1000)
        yield SegmentAge(
            segments.end_of(number, log_end_offset), segment.size_bytes, timestamp_ms,
            segment is segments.active,
        )  # fmt: skip


def expired(
    segments: Iterable[SegmentAge],
    config: LogConfig,
    *,
    now_ms: int,
    log_size_bytes: int,
    log_start_offset: int,
    high_watermark: int,
) -> list[Reason]:
    """The reasons of the oldest segments that may be deleted, in order."""
    reasons: list[Reason] = []
    excess_bytes = log_size_bytes - config.retention_bytes
    by_age = "delete" in config.cleanup_policy
    for segment in segments:
        is_unused = segment.is_active and segment.size_bytes == 0
        if is_unused or segment.next_offset > high_watermark:
            break
        if by_age and 0 <= config.retention_ms < now_ms - segment.largest_timestamp_ms:
            reasons.append("time")
        elif by_age and config.retention_bytes >= 0 and excess_bytes >= segment.size_bytes:
            reasons.append("size")
        elif segment.next_offset <= log_start_offset and not segment.is_active:
            reasons.append("start")
        else:
            break
        excess_bytes -= segment.size_bytes
    return reasons
